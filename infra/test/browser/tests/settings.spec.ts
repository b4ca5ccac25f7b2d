// The theme in all tabs, and the way to a section through an identity provider.

import { signInAt, startProvided } from '../support/identity.ts';
import { expect, test } from '../support/test.ts';

test('the theme is chosen, and other tabs follow', async ({ console, page, context }) => {
  await console.signIn('/settings/appearance');
  const other = await context.newPage();
  await other.goto(`${console.url}/console/settings/appearance`);
  await expect(other.getByRole('radio', { name: /Like the system/ })).toBeChecked();
  await page.getByRole('radio', { name: 'Dark' }).check();
  for (const tab of [page, other]) {
    await expect(tab.locator('html')).toHaveAttribute('data-theme', 'dark');
    await expect(tab.getByRole('radio', { name: 'Dark' })).toBeChecked();
  }
  await page.getByRole('radio', { name: /Like the system/ }).check();
  await expect(other.locator('html')).not.toHaveAttribute('data-theme');
});

test('a section is shown after the sign-in with an identity provider', async ({ page, faults }) => {
  const system = await startProvided(600);
  try {
    await page.goto(`${system.url}/console/settings/usage`);
    await signInAt(page, faults, 'dora');
    await expect(page).toHaveURL(/\/settings\/usage$/);
    await expect(page.getByRole('heading', { name: 'Usage' })).toBeVisible();
  } finally {
    await page.goto('about:blank');
    await system.stop();
  }
});
