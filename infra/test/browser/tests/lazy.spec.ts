// Parts of the page that are loaded when they are first shown.

import { expectAccessible } from '../support/accessible.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

const PARTS = /\/assets\/(state|session-dialogs)-/;

test.beforeEach(({ faults }) => {
  faults.allow(/ERR_FAILED/);
});

onScreens(ALL, () => {
  test('a part that cannot be loaded says so, and can be tried again', async ({
    console,
    api,
    page,
  }) => {
    const { id } = await api.createSession({ name: 'A talk' });
    await console.signIn();
    await page.route(PARTS, (route) => route.abort());
    await console.openSession(id);
    await page.getByRole('button', { name: 'Side panel' }).click();
    const alert = page.getByRole('tabpanel').getByRole('alert');
    await expect(alert).toContainText('could not be loaded');
    await expect(alert.getByRole('button', { name: 'Reload' })).toBeVisible();
    await expectAccessible(page);
    await page.unroute(PARTS);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await expect(alert).toHaveCount(0);
    await expect(page.getByRole('tabpanel')).toContainText('There is no state yet.');
  });

  test('a dialog that cannot be loaded says so, and closes', async ({ console, api, page }) => {
    const { id } = await api.createSession({ name: 'A talk' });
    await console.signIn();
    await page.route(PARTS, (route) => route.abort());
    await console.openSession(id);
    await page.getByRole('button', { name: 'A talk', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('could not be loaded');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'A talk', exact: true })).toBeFocused();

    await page.unroute(PARTS);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue('A talk');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: 'A talk', exact: true })).toBeFocused();
  });
});
