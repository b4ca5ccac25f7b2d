// What the user was writing.

import { expect, screen, test, waitFor, within } from './page';

const field = () => screen.findByRole('textbox', { name: 'Message' });
const nav = () => screen.findByRole('navigation', { name: 'Chats' });

test('a draft is kept for each chat, also across a reload', async ({ api, page }) => {
  const trip = api.createSession({ name: 'Trip' });
  api.createSession({ name: 'Bread' });
  page.open('/');
  await page.fill('Message', 'A new thought');
  await page.user.click(await within(await nav()).findByRole('link', { name: 'Trip' }));
  await waitFor(async () => expect(await field()).toHaveValue(''));
  await page.fill('Message', 'Half a thought');
  await page.user.click(within(await nav()).getByRole('link', { name: 'Bread' }));
  await waitFor(async () => expect(await field()).toHaveValue(''));
  await page.user.click(within(await nav()).getByRole('link', { name: 'Trip' }));
  await waitFor(async () => expect(await field()).toHaveValue('Half a thought'));
  page.reload();
  await waitFor(async () => expect(await field()).toHaveValue('Half a thought'));
  await page.click('link', 'New chat');
  await waitFor(async () => expect(await field()).toHaveValue('A new thought'));

  await page.openSession(trip.id);
  await waitFor(async () => expect(await field()).toHaveFocus());
  await page.user.keyboard('{Enter}');
  await waitFor(() => expect(page.said('agent')).toEqual(['You said: "Half a thought"']));
  expect(api.said(trip.id)).toEqual(['Half a thought']);
  page.reload();
  await waitFor(() => expect(page.said('user')).toEqual(['Half a thought']));
  expect(await field()).toHaveValue('');
});

test('drafts are forgotten when the user signs out', async ({ page }) => {
  page.open('/');
  await page.fill('Message', 'A secret');
  expect(JSON.stringify({ ...sessionStorage })).toContain('A secret');
  await page.click('button', 'Sign out');
  await page.fill(/^Your name/, 'alice');
  expect(JSON.stringify({ ...sessionStorage, ...localStorage })).not.toContain('secret');
  await page.click('button', 'Sign in');
  expect(await field()).toHaveValue('');
});
