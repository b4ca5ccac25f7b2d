// Feedback on answers.

import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

interface Task {
  task_id: string;
  user_message: string;
  message_bubbles: { type: string; text?: string; metadata: unknown }[];
  task_metadata: { status: string; feedback?: unknown };
}

onScreens(ALL, ({ resize }) => {
  test('a thumb and a comment are stored with the task as the user saw it', async ({
    console,
    api,
    page,
  }) => {
    await console.signIn();
    await resize(page);
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
});

test('an answer requested by another device can be rated, and rated again', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'From elsewhere' });
  const [invocation] = await api.say(id, ['What is this?', 'A thing.']);
  await console.signIn(`/s/${id}`);
  await page.getByText('A thing.').hover();
  const good = page.getByRole('button', { name: 'Good answer' });
  const bad = page.getByRole('button', { name: 'Bad answer' });
  await good.click();
  await expect(good).toHaveAttribute('aria-pressed', 'true');
  await bad.click();
  await expect(bad).toHaveAttribute('aria-pressed', 'true');
  await expect(good).toHaveAttribute('aria-pressed', 'false');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('textbox', { name: 'Your comment' })).toHaveCount(0);
  const { feedback } = (await api.send('GET', `/feedback?session_id=${id}`)) as {
    feedback: { task_id: string; type: string }[];
  };
  expect(feedback.map(({ type }) => type)).toContain('down');
  expect(new Set(feedback.map(({ task_id }) => task_id))).toEqual(new Set([invocation]));
});

test('rejected feedback is not shown as given', async ({ console, faults, page }) => {
  faults.allow(/status of 503/);
  await console.signIn();
  await console.ask('Hello');
  await console.waitFor('idle');
  const problem = { status: 503, detail: 'The store is resting.' };
  await page.route('**/api/v1/feedback', (route) => route.fulfill({ status: 503, json: problem }));
  await page.getByRole('button', { name: 'Bad answer' }).click();
  await expect(page.getByTestId('toast')).toContainText('The store is resting.');
  await expect(page.getByRole('button', { name: 'Bad answer' })).toHaveAttribute(
    'aria-pressed',
    'false',
  );
});
