// Questions and answers.

import { expect, test } from '../support/test.ts';

test('a first answer needs one click', async ({ console, page }) => {
  await console.signIn();
  await page.getByRole('button', { name: '/help' }).click();
  await expect(console.said('agent')).toContainText('I am a demo');
  await console.waitFor('idle');
  await expect(page.getByRole('navigation', { name: 'Chats' })).toContainText('/help');
});

test('an answer is shown while it is streamed, and is the same after a reload', async ({
  console,
  page,
}) => {
  await console.signIn();
  await console.ask('/long 150');
  await expect(console.said('agent')).toContainText('word1 ');
  await expect(page.locator('[data-role=agent][data-status=in_progress]')).toBeVisible();
  await expect(console.said('agent')).toContainText('word150');
  await console.waitFor('idle');
  const before = await console.bubbles();
  expect(before).toHaveLength(2);

  await page.reload();
  await console.waitFor('idle');
  await expect(console.said('agent')).toContainText('word150');
  expect(await console.bubbles()).toEqual(before);
});

test('a reload during an answer shows its beginning and the rest', async ({ console, page }) => {
  await console.signIn();
  await console.ask('/long 200');
  await expect(console.said('agent')).toContainText('word20 ');
  await page.reload();
  await expect(console.said('agent')).toContainText('word20 ');
  await expect(console.said('agent')).toContainText('word200');
  await console.waitFor('idle');
  const words = ((await console.said('agent').textContent()) ?? '').trim().split(/\s+/);
  expect(words).toEqual(Array.from({ length: 200 }, (_, i) => `word${i + 1}`));
});
