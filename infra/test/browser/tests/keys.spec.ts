// The keys, the palette, and the list of keys.

import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Find a chat or an action' });
const keys = (page: Page) => page.getByRole('dialog', { name: 'Keys' });
const message = (page: Page) => page.getByRole('textbox', { name: 'Message' });

onScreens(ALL, ({ width, resize }) => {
  test('the palette finds chats and actions by their words', async ({ console, api, page }) => {
    const lisbon = await api.createSession({ name: 'A trip to Lisbon' });
    const tea = await api.createSession({ name: 'Tea ceremony' });
    await console.signIn(`/s/${tea.id}`);
    await resize(page);
    await page.keyboard.press('Control+k');
    const field = palette(page).getByRole('combobox');
    await expect(field).toBeFocused();
    await expect(palette(page).getByRole('option', { name: 'A trip to Lisbon' })).toBeVisible();
    await expectAccessible(page);

    await field.fill('lisb trip');
    await expect(palette(page).getByRole('option', { selected: true })).toHaveText(
      'A trip to Lisbon',
    );
    await page.keyboard.press('Enter');
    await expect(palette(page)).toHaveCount(0);
    await expect(page).toHaveURL(new RegExp(lisbon.id));

    await page.keyboard.press('Control+k');
    await field.fill('rename');
    await expect(palette(page).getByRole('option').first()).toHaveText('Rename');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue('A trip to Lisbon');
    await page.keyboard.press('Escape');

    await page.keyboard.press('Control+k');
    await expect(field).toBeFocused();
    await page.keyboard.press('ArrowUp');
    await expect(palette(page).getByRole('option', { selected: true })).toHaveText(
      'Search in messages',
    );
    await page.keyboard.press('Control+k');
    await expect(palette(page)).toHaveCount(0);

    if (width < 800) await page.getByRole('button', { name: 'Chats', exact: true }).click();
    await page.getByRole('button', { name: 'Find a chat or an action' }).click();
    await expect(field).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });
});

/** Closes the open dialog and presses Ctrl+K in one task; returns once the dialog's close event is over. */
const closeAndOpenPalette = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<void>((done) => {
        const dialog = document.querySelector<HTMLDialogElement>('dialog:modal');
        dialog?.addEventListener('close', () => setTimeout(done));
        dialog?.close();
        dispatchEvent(new KeyboardEvent('keydown', { key: 'k', code: 'KeyK', ctrlKey: true }));
      }),
  );

test('what is typed into the palette stays when the chat is loaded meanwhile', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'A talk' });
  await console.signIn();
  let answer = () => {};
  const typed = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/\/api\/v1\/sessions/, async (route) => {
    await typed;
    await route.continue();
  });
  await console.open(`/s/${id}`);
  await expect(page.getByTestId('user')).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Control+k');
  const field = palette(page).getByRole('combobox');
  await field.pressSequentially('rename');
  const rename = palette(page).getByRole('option', { name: 'Rename', exact: true });
  await expect(rename).toHaveCount(0);
  answer();
  await expect(rename).toBeVisible();
  await expect(field).toHaveValue('rename');
  await expect(field).toBeFocused();
});

test('a dialog that is opened while another one closes stays open', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'A talk' });
  await console.signIn(`/s/${id}`);
  const field = palette(page).getByRole('combobox');
  await page.keyboard.press('Control+k');
  await field.fill('rename');
  await expect(palette(page).getByRole('option', { name: 'Rename', exact: true })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Rename chat' })).toBeVisible();
  await closeAndOpenPalette(page);
  await expect(page.getByRole('dialog')).toHaveCount(1);
  await expect(field).toBeFocused();

  await field.fill('tea');
  await closeAndOpenPalette(page);
  await expect(field).toBeFocused();
  await expect(field).toHaveValue('');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('keys of a single character act outside of fields, and can be turned off', async ({
  console,
  page,
}) => {
  await console.signIn();
  await message(page).pressSequentially('what/is?');
  await expect(message(page)).toHaveValue('what/is?');
  await message(page).blur();
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox', { name: 'Search chats' })).toBeFocused();
  await page.getByRole('searchbox').blur();

  await page.keyboard.press('?');
  await expect(keys(page)).toContainText('Stop the answer');
  await expectAccessible(page);
  await keys(page).getByRole('checkbox').uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.keyboard.press('/');
  await expect(keys(page)).toHaveCount(0);
  await expect(page.getByRole('searchbox')).not.toBeFocused();

  await page.reload();
  await expect(message(page)).toBeFocused();
  await page.keyboard.press('Control+k');
  await palette(page).getByRole('combobox').fill('shortcuts');
  await page.keyboard.press('Enter');
  await expect(keys(page).getByRole('checkbox')).not.toBeChecked();
});

test('Escape stops an answer, but not while a menu or a dialog is open', async ({
  console,
  page,
}) => {
  await console.signIn();
  await console.ask('/long 2000');
  await console.waitFor('in_progress');
  await page.keyboard.press('Control+k');
  await expect(palette(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(palette(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Chat options' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await page.getByRole('searchbox', { name: 'Search chats' }).press('Escape');
  await expect(console.chat).toHaveAttribute('data-status', 'in_progress');

  await message(page).press('Escape');
  await expect(page.getByText('Stopped', { exact: true })).toBeVisible();
});

test('arrow up in the empty message field edits the newest question', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'A long answer' });
  await api.say(id, ['First', 'Yes'], ['Second', 'It goes on.\n\n'.repeat(200)]);
  await console.signIn(`/s/${id}`);
  await expect(console.said('user').last()).toHaveText('Second');
  await message(page).fill('Mine');
  await message(page).press('ArrowUp');
  await expect(page.getByTestId('editor')).toHaveCount(0);
  await message(page).fill('');
  await message(page).press('ArrowUp');
  const editor = page.getByRole('textbox', { name: 'Edit the question' });
  await expect(editor).toBeFocused();
  await expect(editor).toHaveValue('Second');
  await expect(editor).toBeInViewport();
});

test('a key begins a new chat', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'A talk' });
  await console.signIn(`/s/${id}`);
  await page.keyboard.press('Control+Shift+O');
  await expect(page.getByRole('heading', { name: 'What shall we talk about?' })).toBeVisible();
});
