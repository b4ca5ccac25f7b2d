// What the user was writing.

import type { Page } from '@playwright/test';
import { expect, test } from '../support/test.ts';

const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });

test('a draft is kept for each chat, also across a reload', async ({ console, api, page }) => {
  const { id: trip } = await api.createSession({ name: 'Trip' });
  await api.createSession({ name: 'Bread' });
  await console.signIn();
  await field(page).fill('A new thought');
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await list.getByRole('link', { name: 'Trip' }).click();
  await expect(field(page)).toHaveValue('');
  await field(page).fill('Half a thought');
  await list.getByRole('link', { name: 'Bread' }).click();
  await expect(field(page)).toHaveValue('');
  await list.getByRole('link', { name: 'Trip' }).click();
  await expect(field(page)).toHaveValue('Half a thought');
  await page.reload();
  await expect(field(page)).toHaveValue('Half a thought');
  await page.getByRole('link', { name: 'New chat' }).click();
  await expect(field(page)).toHaveValue('A new thought');

  await console.openSession(trip);
  await expect(field(page)).toBeFocused();
  await expect(field(page)).toHaveValue('Half a thought');
  await page.keyboard.press('Enter');
  await expect(console.said('user')).toHaveText('Half a thought');
  await console.waitFor('idle');
  await page.reload();
  await expect(console.said('user')).toHaveText('Half a thought');
  await expect(field(page)).toHaveValue('');
});

test('drafts are forgotten when the user signs out', async ({ console, page }) => {
  await console.signIn();
  await field(page).fill('A secret');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByLabel('Your name')).toBeVisible();
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));
  expect(stored).not.toContain('secret');
  await console.signIn();
  await expect(field(page)).toHaveValue('');
});
