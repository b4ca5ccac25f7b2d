// Feedback on answers.

import { expect, test } from '../support/test.ts';

interface Task {
  task_id: string;
  user_message: string;
  message_bubbles: { type: string; text?: string; metadata: unknown }[];
  task_metadata: { status: string; feedback?: unknown };
}

test('a thumb and a comment are stored with the task as the user saw it', async ({
  console,
  api,
  page,
}) => {
  await console.signIn();
  await console.ask('Hello');
  await console.waitFor('idle');
  const good = page.getByRole('button', { name: 'Good answer' });
  await good.click();
  await expect(good).toHaveAttribute('aria-pressed', 'true');
  await page.getByRole('textbox', { name: 'Your comment' }).fill('It listens.');
  await page.getByRole('button', { name: 'Send', exact: true }).first().click();
  await expect(page.getByRole('button', { name: '“It listens.”' })).toBeVisible();

  const shown = await console.bubbles();
  const run = shown[0]?.invocation;
  const { tasks } = (await api.send('GET', `/sessions/${console.sessionId}/tasks`)) as {
    tasks: Task[];
  };
  const metadata = { kagent_invocation_id: run };
  expect(tasks).toEqual([
    expect.objectContaining({
      task_id: run,
      user_message: 'Hello',
      message_bubbles: [
        expect.objectContaining({ type: 'user', text: 'Hello', metadata }),
        expect.objectContaining({ type: 'agent', text: shown[1]?.text.trim(), metadata }),
      ],
      task_metadata: expect.objectContaining({
        status: 'completed',
        feedback: expect.objectContaining({ type: 'up', text: 'It listens.' }),
      }),
    }),
  ]);

  await page.reload();
  await expect(good).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByRole('button', { name: '“It listens.”' })).toBeVisible();
});
