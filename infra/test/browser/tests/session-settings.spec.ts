// The settings of one session, and its export.

import { ALL, onScreens } from '../support/screens.ts';
import { expectGood } from '../support/settings.ts';
import { expect, test } from '../support/test.ts';

onScreens(ALL, ({ width, resize }) => {
  test("a session's name, retention and metadata are changed", async ({
    console,
    api,
    page,
    faults,
  }) => {
    test.slow(); // many steps
    faults.allow(/status of 422/);
    const { id } = await api.createSession({ name: 'Trip' });
    await console.signIn(`/s/${id}`);
    await resize(page);
    const open = async () => {
      await page.getByRole('button', { name: 'Chat options' }).click();
      await page.getByRole('menuitem', { name: 'Chat settings' }).click();
    };
    await open();
    const dialog = page.getByRole('dialog', { name: 'Chat settings' });
    const metadata = dialog.getByRole('textbox', { name: 'Metadata' });
    const save = dialog.getByRole('button', { name: 'Save' });

    await metadata.fill('{"topic": ');
    await save.click();
    await expect(metadata).toBeFocused();
    await expect(metadata).toHaveAccessibleDescription(/not valid JSON/);
    await metadata.fill('{"topic": "Lisbon"}');
    await dialog.getByRole('radio', { name: /after a time/ }).check();
    await dialog.getByRole('spinbutton', { name: 'Time' }).fill('999999');
    await save.click();
    const retention = dialog.getByRole('group', { name: 'How long it is kept' });
    await expect(retention).toBeFocused();
    await expect(retention).toHaveAccessibleDescription(/seconds/);
    await expectGood(page, width);
    await dialog.getByRole('spinbutton', { name: 'Time' }).fill('7');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Journey');
    await save.click();
    await expect(dialog).toHaveCount(0);
    await expect(page.getByRole('heading', { name: 'Journey' })).toBeVisible();
    expect(await api.session(id)).toMatchObject({
      name: 'Journey',
      metadata: { topic: 'Lisbon' },
      retention: 7 * 86_400,
    });

    await open();
    await expect(dialog.getByRole('radio', { name: /deleted after 7 days/ })).toBeChecked();
    await dialog.getByRole('radio', { name: /As long as all chats/ }).check();
    await save.click();
    await expect(dialog).toHaveCount(0);
    expect(await api.session(id)).not.toHaveProperty('retention');
  });
});

test('a session is exported from its menu', async ({ console, api, page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, 'showSaveFilePicker', { value: undefined });
  });
  const { id } = await api.createSession({ name: 'Trip' });
  await api.say(id, ['Where to?', 'To Lisbon.']);
  await console.signIn(`/s/${id}`);
  await page.getByRole('button', { name: 'Chat options' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Export' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`Trip (${id}).json`);
  await expect(page.getByTestId('toast')).toContainText('Exported');
});
