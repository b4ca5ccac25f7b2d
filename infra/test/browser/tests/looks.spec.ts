// Layout and accessibility: on a phone, in dark mode, with the keyboard.

import { expectAccessible } from '../support/accessible.ts';
import { expect, test } from '../support/test.ts';

const ALL = ['/think of dark', '/tool weather in Lisbon', '/state city=Lisbon', '/fail'];

test.describe('on a narrow phone', () => {
  test.use({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true });

  test('everything can be reached and nothing overflows', async ({ console, api, page }) => {
    const { id } = await api.createSession({ name: 'A session of before, with quite a long name' });
    await api.say(id, ['What is this?', `${'Averylongwordindeed'.repeat(20)} and some code.`]);
    const fits = async () =>
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.goto(`${console.url}/console`);
    await page.getByLabel('Your name').fill(console.user);
    await page.getByRole('button', { name: 'Sign in' }).tap();
    await expect(page.getByRole('button', { name: '/help' })).toBeVisible();
    await fits();

    await page.getByRole('button', { name: 'Chats', exact: true }).tap();
    const drawer = page.getByRole('dialog', { name: 'Chats' });
    await expect(drawer.getByTestId('user')).toHaveText(console.user);
    await expectAccessible(page);
    await drawer.getByRole('link', { name: /of before/ }).tap();
    await expect(drawer).toBeHidden();
    await expect(console.said('agent')).toContainText('and some code.');
    await fits();

    await page.getByRole('textbox', { name: 'Message' }).fill('/state city=Lisbon');
    await page.getByRole('button', { name: 'Send' }).tap();
    await expect(page.getByRole('list', { name: 'State changes' })).toBeVisible();
    await page.getByRole('button', { name: 'Side panel' }).tap();
    const panel = page.getByRole('dialog', { name: 'Side panel' });
    await expect(panel.getByTestId('state')).toContainText('Lisbon');
    await fits();
    await expectAccessible(page);
    await panel.getByRole('button', { name: 'Close the side panel' }).tap();
    await expect(panel).toBeHidden();
  });
});

test.describe('in dark mode', () => {
  test.use({ colorScheme: 'dark' });

  test('all content has enough contrast, and a chosen light theme is remembered', async ({
    console,
    page,
  }) => {
    await console.signIn();
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    for (const question of ALL) {
      await console.ask(question);
      await console.waitFor(question === '/fail' ? 'failed' : 'idle');
    }
    const folds = await page.locator('details').all();
    expect(folds.length).toBeGreaterThan(1);
    for (const fold of folds) await fold.locator('summary').click();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Theme: system' }).click();
    await expect.poll(paper).not.toBe(dark);
    const light = await paper();
    await page.reload();
    await console.waitFor('failed');
    expect(await paper()).toBe(light);
  });
});

test('everything works with the keyboard', async ({ console, page }) => {
  await console.open();
  await page.getByLabel('Your name').fill(console.user);
  await page.keyboard.press('Enter');
  const field = page.getByRole('textbox', { name: 'Message' });
  await expect(field).toBeFocused();
  await page.keyboard.type('One line');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('and another');
  await page.keyboard.press('Enter');
  await expect(console.said('user')).toHaveText('One line\nand another');
  await expect(field).toBeFocused();
  await console.waitFor('idle');

  const options = page.getByRole('button', { name: 'Chat options' });
  await options.focus();
  await page.keyboard.press('Enter');
  const items = page.getByRole('menuitem');
  await expect(items.first()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(items.nth(1)).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowDown'); // at once, like a fast user
  await expect(items.first()).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog').getByRole('textbox')).toBeFocused();
  await page.keyboard.type('By hand');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'By hand' })).toBeVisible();
  await expect(options).toBeFocused();

  await page.keyboard.press('Tab'); // to the panel's button or the one beside it
  await page.getByRole('button', { name: 'Side panel' }).press('Enter');
  await page.getByRole('tab', { name: 'State' }).press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Artifacts' })).toBeFocused();
  await expect(page.getByRole('tabpanel', { name: 'Artifacts' })).toBeVisible();
});

test('a menu that was just closed opens again at the next key', async ({ api, console, page }) => {
  await console.signIn();
  await console.openSession((await api.createSession({ name: 'Menus' })).id);
  const options = page.getByRole('button', { name: 'Chat options' });
  await options.press('Enter');
  await expect(page.getByRole('menuitem').first()).toBeFocused();
  await page.evaluate(async () => {
    const press = (key: string) =>
      document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }),
      );
    press('Escape');
    await Promise.resolve(); // no browser task runs in between, not even the toggle event
    press('ArrowDown');
  });
  await expect(page.getByRole('menuitem').first()).toBeFocused();
});
