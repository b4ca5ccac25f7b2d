// The history with rewound messages, and returning to them.

import { fork, menu, rewind } from '../support/rewinding.ts';
import { test as base, expect } from '../support/test.ts';

/** A session that was rewound to before `Two` and continued with `Other`. */
const test = base.extend<{ rewound: string }>({
  rewound: async ({ api }, use) => {
    const { id } = await api.createSession({ name: 'Trip' });
    const [, two] = await api.say(id, ['One', 'First.'], ['Two', 'Second.'], ['Three', 'Third.']);
    await rewind(api, id, two);
    await api.say(id, ['Other', 'Else.']);
    await use(id);
  },
});

test('rewound messages are greyed out, with the rewinds in place', async ({
  console,
  page,
  rewound,
}) => {
  await console.signIn(`/s/${rewound}`);
  await expect(console.said('user')).toHaveText(['One', 'Other']);
  await page.getByRole('button', { name: 'Show rewound history' }).click();
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Three', 'Other']);
  const hidden = page.getByTestId('rewound').getByTestId('body');
  await expect(hidden).toHaveText(['Two', 'Second.', 'Three', 'Third.']);
  await expect(page.getByTestId('marker')).toContainText('Chat rewound');
  await page.reload();
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Three', 'Other']);
  await page.getByRole('button', { name: 'Back to the chat' }).click();
  await expect(console.said('user')).toHaveText(['One', 'Other']);
});

test('a rewind can be undone', async ({ console, page, rewound }) => {
  await console.signIn(`/s/${rewound}?history`);
  await page.getByRole('button', { name: 'Undo this rewind' }).click();
  const dialog = page.getByRole('dialog', { name: 'Undo this rewind?' });
  await expect(dialog).toContainText('4 messages will be restored, and 2 messages will be hidden.');
  await dialog.getByRole('button', { name: 'Undo the rewind' }).click();
  await expect(page.getByTestId('thread')).toBeVisible(); // back in the chat
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Three']);
});

test('the user can return to a hidden answer', async ({ console, page, rewound }) => {
  await console.signIn(`/s/${rewound}?history`);
  await menu(page, 'Second.', 'Return to this answer');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('2 messages will be restored, and 2 messages will be hidden.');
  await dialog.getByRole('button', { name: 'Return' }).click();
  await expect(console.said('agent')).toHaveText(['First.', 'Second.']);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('');
});

test('the user can return to before a hidden question and ask it again', async ({
  console,
  page,
  rewound,
}) => {
  await console.signIn(`/s/${rewound}?history`);
  await menu(page, 'Three', 'Return to before this question');
  await page.getByRole('dialog').getByRole('button', { name: 'Return' }).click();
  await expect(console.said('agent')).toHaveText(['First.', 'Second.']);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Three');
});

test('the user can fork from a hidden message', async ({ console, page, rewound }) => {
  await console.signIn(`/s/${rewound}?history`);
  await menu(page, 'Second.', 'Fork from this answer');
  await page.getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page.getByTestId('origin')).toContainText('forked from Trip');
  await expect(console.said('agent')).toHaveText(['First.', 'Second.']);
});

test("a fork's history has only the fork's own rewinds", async ({
  console,
  api,
  page,
  rewound,
}) => {
  const { id } = await fork(api, rewound, 'Fork');
  const [again] = await api.say(id, ['Again', 'More.']);
  await rewind(api, id, again);
  await console.signIn(`/s/${id}?history`);
  await expect(console.said('user')).toHaveText(['One', 'Other', 'Again']);
  await expect(page.getByTestId('rewound').getByTestId('body')).toHaveText(['Again', 'More.']);
  await expect(page.getByTestId('marker')).toHaveCount(1);
});

test('the history follows changes of another tab', async ({ console, api, page, rewound }) => {
  await console.signIn(`/s/${rewound}?history`);
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Three', 'Other']);
  const [more] = await api.say(rewound, ['More', 'And more.']);
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Three', 'Other', 'More']);
  await rewind(api, rewound, more);
  await expect(page.getByTestId('marker')).toHaveCount(2);
  await expect(page.getByTestId('rewound').last()).toContainText('And more.');
});

test('an answer that a retry has replaced is in the history', async ({ console, page }) => {
  await console.signIn();
  await console.ask('/fail');
  await console.waitFor('failed');
  await console.tryAgain();
  await console.waitFor('failed');
  await page.getByRole('button', { name: 'Show rewound history' }).click();
  await expect(page.getByTestId('marker')).toContainText('Chat rewound');
  await expect(page.getByTestId('rewound').last()).toContainText('This goes well');
});

test('the history is loaded in pages when scrolling up', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  const turns = Array.from({ length: 150 }, (_, i) => [`Question ${i}`, `Answer ${i}`] as const);
  const said = await api.say(id, ...turns.map(([q, a]): [string, string] => [q, a]));
  await rewind(api, id, said[140]);
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('view=all')) asked.push(request.url());
  });
  await console.signIn(`/s/${id}?history`);
  await expect(page.getByText('Answer 149', { exact: true })).toBeVisible();
  const whole = () => asked.some((url) => url.includes('after=0&'));
  expect(whole()).toBe(false);
  await expect(async () => {
    await page.getByTestId('history').evaluate((thread) => thread.scrollTo(0, 0));
    await expect(page.getByText('Question 0', { exact: true })).toBeVisible({ timeout: 500 });
  }).toPass();
  expect(whole()).toBe(true);
  expect((await console.bubbles()).length).toBeLessThan(150); // those in view and around it
});
