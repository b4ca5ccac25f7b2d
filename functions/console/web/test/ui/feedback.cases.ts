// Feedback on answers.

import { problem } from './fake-api';
import { expect, screen, test, waitFor } from './page';

const thumb = (name: 'Good answer' | 'Bad answer') => screen.findByRole('button', { name });
const pressed = async (good: boolean, bad: boolean) => {
  await waitFor(async () => {
    expect(await thumb('Good answer')).toHaveAttribute('aria-pressed', String(good));
    expect(await thumb('Bad answer')).toHaveAttribute('aria-pressed', String(bad));
  });
};

test('a thumb and a comment are stored with the task as the user saw it', async ({ api, page }) => {
  page.open('/');
  await page.ask('Hello');
  await page.user.click(await thumb('Good answer'));
  await pressed(true, false);
  await page.fill('Your comment', 'It listens.');
  await page.user.keyboard('{Enter}');
  expect(await screen.findByRole('button', { name: '“It listens.”' })).toBeVisible();

  const [{ id } = { id: '' }] = api.sessions.values();
  const run = api.log(id)[0]?.invocation_id;
  const metadata = { kagent_invocation_id: run };
  expect(api.tasks.get(id)).toEqual([
    expect.objectContaining({
      task_id: run,
      user_message: 'Hello',
      message_bubbles: [
        expect.objectContaining({ type: 'user', text: 'Hello', metadata }),
        expect.objectContaining({ type: 'agent', text: 'You said: "Hello"', metadata }),
      ],
      task_metadata: expect.objectContaining({ status: 'completed' }),
    }),
  ]);
  const given = { taskId: run, sessionId: id, feedbackType: 'up' };
  expect(api.askedFor('POST /feedback').map(({ body }) => body)).toEqual([
    { ...given, feedbackText: '' },
    { ...given, feedbackText: 'It listens.' },
  ]);

  page.reload();
  expect(await screen.findByRole('button', { name: '“It listens.”' })).toBeVisible();
  await pressed(true, false);
});

test('an answer requested by another device can be rated, and rated again', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'From elsewhere' });
  const [invocation] = api.say(id, ['What is this?', 'A thing.']);
  page.open(`/s/${id}`);
  await page.user.click(await thumb('Good answer'));
  await pressed(true, false);
  await page.user.click(await thumb('Bad answer'));
  await pressed(false, true);
  const comment = await screen.findByRole('textbox', { name: 'Your comment' });
  await waitFor(() => expect(comment).toHaveFocus());
  await page.user.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Your comment' })).toBeNull());
  expect(api.feedback.map(({ type, task_id }) => [type, task_id])).toEqual([
    ['down', invocation],
    ['up', invocation],
  ]);
  expect(api.askedFor('POST /sessions/{session_id}/tasks')).toHaveLength(1);
});

test('rejected feedback is not shown as given', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Rejected' });
  api.say(id, ['What is this?', 'A thing.']);
  page.open(`/s/${id}`);
  api.on('POST /feedback', () => problem(403, 'The store is resting.'));
  await page.user.click(await thumb('Bad answer'));
  expect(await screen.findByTestId('toast')).toHaveTextContent('The store is resting.');
  await pressed(false, false);
  expect(screen.queryByRole('textbox', { name: 'Your comment' })).toBeNull();
});
