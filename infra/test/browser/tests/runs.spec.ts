// Runs that fail or are stopped.

import { expect, test } from '../support/test.ts';

test('a stopped run keeps its output and can be repeated', async ({ console, api, page }) => {
  await console.signIn();
  await console.ask('/long 2000');
  await expect(console.said('agent')).toContainText('word5 ');
  await page.getByRole('button', { name: 'Stop' }).click();
  await console.waitFor('idle');
  await expect(page.getByText('Stopped', { exact: true })).toBeVisible();
  const before = await console.bubbles();
  await page.reload();
  await console.waitFor('idle');
  await expect(page.getByText('Stopped', { exact: true })).toBeVisible();
  expect(await console.bubbles()).toEqual(before);

  await console.ask('Hello');
  await expect(console.said('agent').last()).toContainText('You said: "Hello"');
  await expect(console.said('user')).toHaveText(['/long 2000', 'Hello']);
  expect((await console.bubbles()).slice(0, before.length)).toEqual(before);

  const [stopped] = await api.events(console.sessionId);
  await console.said('agent').first().hover();
  await page.getByRole('button', { name: 'Ask again' }).first().click();
  await expect(console.said('agent')).toContainText('word5 ');
  await expect(console.said('user')).toHaveText(['/long 2000']);
  await page.getByRole('button', { name: 'Stop' }).click();
  await console.waitFor('idle');
  const [again] = await api.events(console.sessionId);
  expect(again?.invocation_id).not.toBe(stopped?.invocation_id);
});

test('a failed run keeps its error; a retry sends the same question', async ({
  console,
  api,
  page,
}) => {
  await console.signIn();
  await console.ask('/fail');
  await console.waitFor('failed');
  const failure = page.getByTestId('failure');
  await expect(failure).toContainText('I was asked to fail.');
  await expect(console.said('agent')).toContainText('This goes well, until');
  const before = await console.bubbles();
  await page.reload();
  await expect(failure).toContainText('I was asked to fail.');
  expect(await console.bubbles()).toEqual(before);

  const first = await api.session(console.sessionId);
  await console.tryAgain();
  await expect.poll(async () => (await api.session(first.id)).epoch).toBe(first.epoch + 1);
  await console.waitFor('failed');
  await expect(failure).toHaveCount(1);
  await expect(console.said('user')).toHaveText(['/fail']);
  expect((await console.bubbles())[0]?.invocation).not.toBe(before[0]?.invocation);
});

test('a question after a failure follows the failed turn', async ({ console, page }) => {
  await console.signIn();
  await console.ask('/drop');
  await console.waitFor('failed');
  await expect(page.getByTestId('failure')).toBeVisible();
  await console.ask('Never mind');
  await expect(console.said('agent').last()).toContainText('You said: "Never mind"');
  await expect(console.said('user')).toHaveText(['/drop', 'Never mind']);
  await expect(page.getByTestId('failure')).toHaveCount(1);
});

test('a double click sends one question', async ({ console, api, page }) => {
  await console.signIn();
  await console.ask('Hello');
  await console.waitFor('idle');
  await page.getByRole('textbox', { name: 'Message' }).fill('Only once');
  await page.getByRole('button', { name: 'Send' }).dblclick();
  await expect(console.said('agent')).toHaveCount(2);
  await expect(console.said('agent').last()).toContainText('You said: "Only once"');
  await console.waitFor('idle');
  expect(await api.events(console.sessionId)).toHaveLength(4);
});
