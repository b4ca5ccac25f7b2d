// Questions that wait until the answers before them are complete.

import { problem } from './fake-api';
import { expect, screen, test, waitFor } from './page';
import { saying } from './world';

const queued = () =>
  screen.queryAllByTestId('queued').map((one) => one.querySelector('p')?.textContent);

const remove = () => screen.getAllByRole('button', { name: 'Remove from the queue' });

test('questions asked during an answer wait, can be removed, and run in order', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Many' });
  api.answers = () => null;
  api.start(id, [saying('user', 'Tell me')]);
  await page.openSession(id);
  for (const text of ['One', 'Two', 'Three']) {
    await page.fill('Message', text);
    await page.click('button', 'Add to the queue');
    await waitFor(() => expect(queued().at(-1)).toBe(text));
    await waitFor(() => expect(remove().at(-1)).toBeEnabled()); // the server has it
  }
  expect(
    api.askedFor('POST /sessions/{session_id}/runs').map(({ body }) => body.on_active),
  ).toEqual(['enqueue', 'enqueue', 'enqueue']);
  page.reload();
  await waitFor(() => expect(queued()).toEqual(['One', 'Two', 'Three']));
  await page.user.click(remove()[1] as HTMLElement);
  await waitFor(() => expect(queued()).toEqual(['One', 'Three']));
  api.answers = (text) => `You said: "${text}"`;
  await page.click('button', 'Stop');
  await waitFor(() => expect(page.said('user')).toEqual(['Tell me', 'One', 'Three']));
  expect(page.said('agent').slice(-2)).toEqual(['You said: "One"', 'You said: "Three"']);
  expect(screen.queryByTestId('queue')).toBeNull();
});

test('a question is not queued if the queue is full, with the reason', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Many' });
  api.answers = () => null;
  api.start(id, [saying('user', 'Tell me')]);
  api.enqueue(id, saying('user', 'One'));
  api.on('POST /sessions/{session_id}/runs', () => problem(409, 'at most 10 inputs are queued'));
  await page.openSession(id);
  await page.fill('Message', 'The eleventh');
  await page.click('button', 'Add to the queue');
  expect(await screen.findByTestId('problem')).toHaveTextContent('at most 10 inputs are queued');
  const field = screen.getByRole('textbox', { name: 'Message' });
  await waitFor(() => expect(field).toHaveValue('The eleventh'));
  expect(queued()).toEqual(['One']);
});

test('a queue that waits behind a failure says what to do', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Many' });
  api.answers = () => null;
  api.start(id, [saying('user', 'Fail')]);
  api.enqueue(id, saying('user', 'Later'));
  await page.openSession(id);
  api.end(id, '', '', true);
  expect(await screen.findByText(/^The last answer failed, and the queue waits\./)).toBeVisible();
  expect(queued()).toEqual(['Later']);
  api.answers = (text) => `You said: "${text}"`;
  await page.ask('Instead');
  await waitFor(() => expect(page.said('agent').at(-1)).toBe('You said: "Later"'));
  const [started] = api.askedFor('POST /sessions/{session_id}/runs');
  expect(started?.body).toMatchObject({ on_active: 'reject', on_failed: 'keep' });
  expect(queued()).toEqual([]);
});
