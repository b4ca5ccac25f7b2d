// The list of the user's own feedback in the settings.

import { expect, test } from '../support/people.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expectGood } from '../support/settings.ts';
import { revoke, share } from '../support/sharing.ts';

onScreens(ALL, ({ width, resize }) => {
  test('feedback leads to its message', async ({ console, api, page }) => {
    const { id } = await api.createSession({ name: 'A trip' });
    const turns = Array.from({ length: 30 }, (_, i): [string, string] => [`Q ${i}.`, `A ${i}.`]);
    await api.say(id, ...turns);
    await console.signIn('/settings/feedback');
    await resize(page);
    await expect(page.getByText('You have given no feedback yet.')).toBeVisible();
    await expectGood(page, width);

    await console.openSession(id);
    const answer = page.getByTestId('message').filter({ hasText: 'A 29.' });
    await answer.hover();
    await answer.getByRole('button', { name: 'Bad answer' }).click();
    await answer.getByRole('textbox', { name: 'Your comment' }).fill(`No. ${'Long '.repeat(80)}`);
    await answer.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(answer.locator('.feedback-text')).toBeVisible();

    await console.open('/settings/feedback');
    const given = page.getByTestId('given');
    await expect(given).toHaveCount(1);
    await expect(given).toContainText('Q 29.');
    await expect(given).toContainText('Bad answer');
    await expect(given).toContainText('A trip');
    await given.getByText('Changed: what it was before').click();
    await expect(given.getByRole('listitem')).toHaveText(/^Bad answer, /);
    await given.getByText(/^“No\./).click();
    await expectGood(page, width);
    await page.getByRole('combobox', { name: 'Which feedback' }).selectOption('Good answers');
    await expect(page.getByText('There is no such feedback.')).toBeVisible();
    await page.getByRole('combobox', { name: 'Which feedback' }).selectOption('Bad answers');
    await given.getByRole('link').click();
    await expect(page).toHaveURL(new RegExp(id));
    await expect(answer).toBeInViewport();
  });

  test('feedback is read page by page, and rewound messages are in the history', async ({
    console,
    api,
    page,
    faults,
  }) => {
    faults.allow(/status of 404/);
    const { id } = await api.createSession({ name: 'Many' });
    const turns = Array.from({ length: 25 }, (_, i): [string, string] => [`Q ${i}.`, `A ${i}.`]);
    const invocations = await api.say(id, ...turns);
    for (const [i, task] of invocations.entries()) {
      const said = {
        id: task,
        type: 'user',
        text: `Q ${i}.`,
        metadata: { kagent_invocation_id: task },
      };
      await api.send('POST', `/sessions/${id}/tasks`, {
        task_id: task,
        user_message: `Q ${i}.`,
        message_bubbles: [said],
      });
      const feedback = { taskId: task, sessionId: id, feedbackType: i % 2 ? 'up' : 'down' };
      await api.send('POST', '/feedback', feedback);
    }
    await api.rewind(id, invocations[24] ?? '');
    await console.signIn('/settings/feedback');
    await resize(page);
    const given = page.getByTestId('given');
    await expect(given).toHaveCount(20);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect(given).toHaveCount(25);
    await expect(given.last()).toContainText('Q 0.');
    await expectGood(page, width);
    await given.first().getByRole('link', { name: 'A rewound or deleted message' }).click();
    await expect(page).toHaveURL(/history=1/);
    await expect(page.getByText('A 24.')).toBeInViewport();
  });
});

test('chats that are deleted or shared no longer say so, and one that fails leaves the others', async ({
  console,
  api,
  page,
  faults,
  another,
}) => {
  faults.allow(/status of (403|404|400)/);
  const bob = await another('bob');
  const rate = async (session: string, question: string) => {
    const task = `task-${session}`;
    await api.send('POST', `/sessions/${session}/tasks`, {
      task_id: task,
      user_message: question,
      message_bubbles: [{ id: 'u', type: 'user', text: question }],
    });
    const feedback = { taskId: task, sessionId: session, feedbackType: 'up' };
    await api.send('POST', '/feedback', feedback);
  };
  const mine = await api.createSession({ name: 'Mine' });
  const broken = await api.createSession({ name: 'Broken' });
  const his = await bob.api.createSession({ name: 'His' });
  const access = await share(bob.api, his.id, { user_id: api.user, access: 'write' });
  await rate(mine.id, 'A question of mine');
  await rate(broken.id, 'A question that fails');
  await rate(his.id, 'A question in his chat');
  await page.route(`**/sessions/${broken.id}/tasks/*`, (route) =>
    route.fulfill({ status: 400, json: { status: 400, detail: 'It cannot be decoded.' } }),
  );
  await console.signIn('/settings/feedback');
  const given = page.getByTestId('given');
  await expect(given).toHaveCount(3);
  await expect(given.filter({ hasText: 'A question in his chat' })).toContainText(bob.user);
  const failed = given.filter({ hasText: 'It cannot be decoded.' });
  await expect(failed).toContainText('The message could not be loaded');
  await page.unroute(`**/sessions/${broken.id}/tasks/*`);
  await failed.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('link', { name: /A question that fails/ })).toBeVisible();

  await revoke(bob.api, his.id, access);
  await page.reload();
  await expect(given.filter({ hasText: 'Your access to the chat has ended' })).toHaveCount(1);
  await expect(given.getByRole('link')).toHaveCount(2);

  // A list that was read before the deletion
  const before = (await api.send('GET', '/feedback')) as object;
  await api.send('DELETE', `/sessions/${mine.id}`);
  await page.route('**/feedback?*', (route) => route.fulfill({ json: before }));
  await page.reload();
  await expect(given.filter({ hasText: 'The chat was deleted' })).toHaveCount(1);
});
