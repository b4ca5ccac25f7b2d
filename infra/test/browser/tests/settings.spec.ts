// The settings: the way there, the theme, and what is used of the quotas.

import { expectAccessible } from '../support/accessible.ts';
import { signInAt, startProvided } from '../support/identity.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expectGood } from '../support/settings.ts';
import { expect, test } from '../support/test.ts';

onScreens(ALL, ({ width, resize }) => {
  test('the settings have an address, a title and a way back', async ({ console, page }) => {
    await console.signIn('/settings/usage'); // who is signed out comes back to the section
    await resize(page);
    await expect(page.getByRole('heading', { name: 'Usage' })).toBeVisible();
    await expect(page).toHaveTitle('Usage · Settings · Rethread');
    await page.reload();
    await expect(page.getByRole('heading', { name: 'Usage' })).toBeVisible();

    await page.goto(`${console.url}/console/`);
    if (width < 832) await page.getByRole('button', { name: 'Sessions', exact: true }).click();
    await page.getByRole('link', { name: 'Settings' }).click();
    await expect(page.getByRole('heading', { name: 'Appearance' })).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    const sections = page.getByRole('navigation', { name: 'Settings' });
    await expect(sections.getByRole('link', { name: 'Appearance' })).toHaveAttribute(
      'aria-current',
      'page',
    );
    await expectGood(page, width);
    await sections.getByRole('link', { name: 'Usage' }).click();
    await expect(page).toHaveURL(/\/settings\/usage$/);
    await page.goBack();
    await expect(page.getByRole('heading', { name: 'Appearance' })).toBeVisible();
    await console.open('/settings/none');
    await expect(page).toHaveURL(/\/settings\/appearance$/);
  });

  test('quotas are shown with their limits', async ({ console, api, page }) => {
    await api.createSession();
    await api.createSession();
    await console.signIn('/settings/usage');
    await resize(page);
    const quota = (name: string) =>
      page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) });
    await expect(quota('Sessions')).toContainText('2, no limit');
    await expect(quota('Answers in progress')).toContainText('0 of 100');
    await expect(page.getByRole('meter', { name: 'Answers in progress' })).toHaveAttribute(
      'max',
      '100',
    );
    await expect(quota('Storage')).toContainText('no limit');
    await expectGood(page, width);

    await api.createSession();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect(quota('Sessions')).toContainText('3, no limit');
  });
});

onScreens(ALL, ({ resize }) => {
  test('the theme is chosen, and other tabs follow', async ({ console, page, context }) => {
    await console.signIn('/settings/appearance');
    const other = await context.newPage();
    for (const tab of [page, other]) await resize(tab);
    await other.goto(`${console.url}/console/settings/appearance`);
    await expect(other.getByRole('radio', { name: /Like the system/ })).toBeChecked();
    await page.getByRole('radio', { name: 'Dark' }).check();
    for (const tab of [page, other]) {
      await expect(tab.locator('html')).toHaveAttribute('data-theme', 'dark');
      await expect(tab.getByRole('radio', { name: 'Dark' })).toBeChecked();
    }
    await expectAccessible(page);
    await page.getByRole('radio', { name: /Like the system/ }).check();
    await expect(other.locator('html')).not.toHaveAttribute('data-theme');
  });
});

test('a lost connection is said, and the section is read again when it is back', async ({
  console,
  api,
  page,
  context,
  faults,
}) => {
  faults.allow(/ERR_INTERNET_DISCONNECTED/, /WebSocket/);
  await console.signIn('/settings/usage');
  await expect(page.getByText('0, no limit').first()).toBeVisible();
  await page.route('**/me/usage', (route) => route.abort('internetdisconnected'));
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(page.getByRole('alert')).toContainText('The server cannot be reached.', {
    timeout: 70_000,
  });
  await api.createSession();
  await page.unroute('**/me/usage');
  await context.setOffline(true);
  await context.setOffline(false);
  await expect(page.getByText('1, no limit')).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
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
