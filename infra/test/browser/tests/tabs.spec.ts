// Several tabs with one session.

import { expect, test } from '../support/test.ts';

test('two tabs show the same question, streamed answer, rewind and name', async ({
  console,
  api,
  page,
  openTab,
}) => {
  await console.signIn();
  await console.ask('Hello');
  await console.waitFor('idle');
  const other = await openTab(console.sessionId);
  expect(await other.bubbles()).toEqual(await console.bubbles());

  await console.ask('/long 100');
  await expect(other.said('agent').last()).toContainText('word3 ');
  await expect(other.said('agent').last()).toContainText('word100');
  for (const tab of [console, other]) await tab.waitFor('idle');
  const whole = await console.bubbles();
  expect(whole).toHaveLength(4);
  expect(await other.bubbles()).toEqual(whole);

  await api.rewind(console.sessionId, whole[2]?.invocation ?? '');
  for (const tab of [console, other]) await expect(tab.said('user')).toHaveText(['Hello']);
  expect(await other.bubbles()).toEqual(whole.slice(0, 2));

  await page.getByRole('button', { name: 'Hello', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Rename chat' });
  await dialog.getByRole('textbox').fill('A greeting');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  for (const { page: shown } of [console, other]) {
    await expect(shown.getByRole('navigation', { name: 'Chats' })).toContainText('A greeting');
  }
});

test('a run can be stopped from a tab that did not start it', async ({ console, openTab }) => {
  await console.signIn();
  await console.ask('/long 2000');
  await expect(console.said('agent')).toContainText('word2 ');
  const other = await openTab(console.sessionId);
  await other.page.getByRole('button', { name: 'Stop' }).click();
  for (const tab of [console, other]) {
    await tab.waitFor('idle');
    await expect(tab.page.getByText('Stopped', { exact: true })).toBeVisible();
  }
  await expect.poll(() => other.bubbles()).toEqual(await console.bubbles());
});
