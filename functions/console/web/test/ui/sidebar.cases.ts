// The list of chats beside the chat, which can be hidden.

import { expect, screen, test, waitFor } from './page';

const nav = () => screen.queryByRole('navigation', { name: 'Chats' });
const show = () => screen.findByRole('button', { name: 'Show the list of chats' });

test('the list is hidden and shown by a button, and the browser remembers it', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Trip' });
  await page.openSession(id);
  await waitFor(() => expect(nav()).toBeVisible());
  const field = await screen.findByRole('textbox', { name: 'Message' });
  await waitFor(() => expect(field).toHaveFocus()); // it takes the focus once
  await page.click('button', 'Hide the list of chats');
  expect(nav()).toBeNull();
  await waitFor(async () => expect(await show()).toHaveFocus());
  page.open('/settings/appearance');
  await waitFor(() => expect(screen.getByRole('heading', { name: 'Appearance' })).toHaveFocus());
  expect(await show()).toBeVisible();
  expect(nav()).toBeNull();
  await page.user.click(await show());
  await waitFor(() => expect(nav()).toBeVisible());
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Hide the list of chats' })).toHaveFocus(),
  );
});

test('a key hides and shows it, also while a question is written', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  await page.openSession(id);
  await waitFor(() => expect(nav()).toBeVisible());
  await page.fill('Message', 'Half');
  await page.user.keyboard('{Control>}b{/Control}');
  expect(nav()).toBeNull();
  expect(screen.getByRole('textbox', { name: 'Message' })).toHaveFocus();
  await page.user.keyboard('{Control>}b{/Control}');
  await waitFor(() => expect(nav()).toBeVisible());
  expect(screen.getByRole('textbox', { name: 'Message' })).toHaveValue('Half');
});

test('a search shows it', async ({ page }) => {
  page.open('/settings/appearance');
  await page.click('button', 'Hide the list of chats');
  await page.user.keyboard('/');
  await waitFor(() =>
    expect(screen.getByRole('searchbox', { name: 'Search chats' })).toHaveFocus(),
  );
});

test('on a narrow screen the key opens the drawer', async ({ page }) => {
  localStorage.setItem('rethread.sidebar', 'folded');
  page.open('/', { narrow: true });
  await screen.findByRole('button', { name: 'Chats' });
  expect(screen.queryByRole('button', { name: 'Show the list of chats' })).toBeNull();
  await page.user.keyboard('{Control>}b{/Control}');
  expect(await screen.findByRole('dialog', { name: 'Chats' })).toBeVisible();
});
