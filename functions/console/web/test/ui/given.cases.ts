// The list of the user's own feedback in the settings.

import { problem } from './fake-api';
import { expect, screen, test, waitFor, within } from './page';
import type { World } from './world';

const all = () => screen.queryAllByTestId('given');
const one = (text: string) => {
  const found = all().find((item) => item.textContent?.includes(text));
  if (!found) throw new Error(`no feedback has ${text}`);
  return found;
};

/** Rates a question of a session. */
function rate(
  api: World,
  id: string,
  question: string,
  type: 'up' | 'down' = 'up',
  text = '',
): void {
  const task_id = `task of ${question}`;
  const bubble = {
    id: 'u',
    type: 'user',
    text: question,
    metadata: { kagent_invocation_id: question },
  };
  api.task(id, { task_id, user_message: question, message_bubbles: [bubble as never] });
  api.give(id, task_id, type, text);
}

test('feedback is told from that of the other kind, and leads to its message', async ({
  api,
  page,
}) => {
  page.open('/settings/feedback');
  expect(await screen.findByText('You have given no feedback yet.')).toBeVisible();
  const { id } = api.createSession({ name: 'A trip' });
  rate(api, id, 'Q 29.', 'down');
  rate(api, id, 'Q 29.', 'down', `No. ${'Long '.repeat(80)}`);
  page.reload();
  await waitFor(() => expect(all()).toHaveLength(1));
  await waitFor(() => expect(one('Q 29.')).toHaveTextContent(/Bad answer.*A trip/));
  const given = within(one('Q 29.'));
  expect(given.getByText('Changed: what it was before')).toBeVisible();
  expect(given.getByRole('listitem')).toHaveTextContent(/^Bad answer, /);
  expect(given.getByText(/^No\. (Long )+L?o?n?g?…$/)).toBeVisible();
  expect(given.getByRole('link')).toHaveAttribute(
    'href',
    expect.stringMatching(`/s/${id}\\?at=Q(%20|\\+)29`),
  );
  const which = screen.getByRole('combobox', { name: 'Which feedback' });
  await page.user.selectOptions(which, 'Good answers');
  expect(await screen.findByText('There is no such feedback.')).toBeVisible();
  await page.user.selectOptions(which, 'Bad answers');
  await waitFor(() => expect(all()).toHaveLength(1));
  expect(api.askedFor('GET /feedback').map(({ query }) => query.type)).toEqual([
    undefined,
    undefined,
    'up',
    'down',
  ]);
});

test('feedback is read page by page, and rewound messages are in the history', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Many' });
  for (let i = 0; i < 25; i++) rate(api, id, `Q ${i}.`, i % 2 ? 'up' : 'down');
  api.tasks.get(id)?.pop();
  api.session(id).epoch = 1;
  page.open('/settings/feedback');
  await waitFor(() => expect(all()).toHaveLength(20));
  await page.click('button', 'Show more');
  await waitFor(() => expect(all()).toHaveLength(25));
  await waitFor(() => expect(all().at(-1)).toHaveTextContent('Q 0.'));
  const hidden = await screen.findByRole('link', { name: /^A rewound or deleted message/ });
  expect(all()[0]).toContainElement(hidden);
  expect(hidden).toHaveAttribute('href', expect.stringMatching(`/s/${id}\\?history=1&at=`));
});

test('chats that are deleted or shared no longer say so, and one that fails leaves the others', async ({
  api,
  page,
}) => {
  const mine = api.createSession({ name: 'Mine' });
  const broken = api.createSession({ name: 'Broken' });
  const his = api.createSession({ name: 'His', user_id: 'bob', access: 'write' });
  rate(api, mine.id, 'A question of mine');
  rate(api, broken.id, 'A question that fails');
  rate(api, his.id, 'A question in his chat');
  let whole = false;
  api.on('GET /sessions/{session_id}/tasks/{task_id}', ({ params: [id] }, next) =>
    id === broken.id && !whole ? problem(400, 'It cannot be decoded.') : next(),
  );
  page.open('/settings/feedback');
  await waitFor(() => expect(one('A question in his chat')).toHaveTextContent('His from bob'));
  await waitFor(() =>
    expect(one('It cannot be decoded.')).toHaveTextContent('The message could not be loaded'),
  );
  expect(all()).toHaveLength(3);
  whole = true;
  await page.click('button', 'Try again');
  expect(await screen.findByRole('link', { name: /A question that fails/ })).toBeVisible();

  api.on('GET /sessions/{session_id}', ({ params: [id] }, next) =>
    id === his.id ? problem(403, 'no access') : next(),
  );
  api.sessions.delete(mine.id);
  page.reload();
  await waitFor(() => expect(one('Your access to the chat has ended')).toBeVisible());
  await waitFor(() => expect(one('The chat was deleted')).toBeVisible());
  await waitFor(() => expect(screen.getAllByRole('link', { name: /A question/ })).toHaveLength(1));
});
