// Network interruptions and sleep.

import { expect, test } from '../support/test.ts';

const LOST = [/ERR_INTERNET_DISCONNECTED/, /ERR_NETWORK_IO_SUSPENDED/, /WebSocket connection/];

test('changes made while offline appear after reconnecting', async ({
  console,
  api,
  context,
  faults,
  page,
}) => {
  faults.allow(...LOST);
  const { id } = await api.createSession({ name: 'On a train' });
  await api.say(id, ['Are we there?', 'Not yet.']);
  await console.signIn(`/s/${id}`);
  await expect(page.getByText('Not yet.')).toBeVisible();

  await context.setOffline(true);
  await expect(page.getByText('You are offline.')).toBeVisible();
  await page.getByRole('textbox', { name: 'Message' }).fill('And now?');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('problem')).toContainText('cannot be reached');
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('And now?');
  await api.say(id, ['Asked by phone', 'Answered by phone.']);

  await context.setOffline(false);
  await expect(page.getByText('Answered by phone.')).toBeVisible();
  await expect(page.getByText('You are offline.')).toHaveCount(0);
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  await expect(console.said('agent').last()).toContainText('You said: "And now?"');
  await expect(console.said('user')).toHaveText(['Are we there?', 'Asked by phone', 'And now?']);
});

test('an answer that continues while offline is complete afterwards', async ({
  console,
  api,
  context,
  faults,
  page,
}) => {
  faults.allow(...LOST);
  await console.signIn();
  await console.ask('/long 150');
  await expect(console.said('agent')).toContainText('word3 ');
  await context.setOffline(true);
  await expect(page.getByText('You are offline.')).toBeVisible();
  await expect.poll(async () => (await api.session(console.sessionId)).status).toBe('idle');
  await context.setOffline(false);
  await expect(console.said('agent')).toContainText('word150');
  await console.waitFor('idle');
  const words = ((await console.said('agent').textContent()) ?? '').trim().split(/\s+/);
  expect(words).toEqual(Array.from({ length: 150 }, (_, i) => `word${i + 1}`));
});

test('a page shows what it missed during sleep', async ({
  console,
  api,
  context,
  faults,
  page,
}) => {
  faults.allow(...LOST);
  const { id } = await api.createSession({ name: 'In the evening' });
  await api.say(id, ['Good night', 'Sleep well.']);
  await console.signIn(`/s/${id}`);
  await expect(page.getByText('Sleep well.')).toBeVisible();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
  await api.say(id, ['Good morning', 'Did you dream?']);
  await devtools.send('Page.setWebLifecycleState', { state: 'active' });
  await expect(page.getByText('Did you dream?')).toBeVisible();
});
