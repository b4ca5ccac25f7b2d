// The outline of a chat.

import { expectAccessible } from '../support/accessible.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

onScreens(ALL, ({ width, resize }) => {
  test('the outline leads to each question, also to those not loaded yet', async ({
    console,
    api,
    page,
  }) => {
    const { id } = await api.createSession({ name: 'A long one' });
    const answer = 'An answer of some length. '.repeat(20);
    await api.say(
      id,
      ...Array.from({ length: 80 }, (_, i): [string, string] => [`Question ${i + 1}`, answer]),
    );
    await console.signIn(`/s/${id}`);
    await resize(page);
    const open = async () => {
      await page.getByRole('button', { name: 'Side panel' }).click();
      await page.getByRole('tab', { name: 'Outline' }).click();
    };
    await open();
    const outline = page.getByRole('navigation', { name: 'Questions of this chat' });
    const entry = (n: number) =>
      outline.getByRole('button', { name: `Question ${n}`, exact: true });
    await expect(entry(80)).toHaveAttribute('aria-current', 'location');
    await expect(entry(1)).toHaveCount(0);
    await outline.getByRole('button', { name: 'Earlier questions' }).click();
    await expect(entry(1)).toHaveCount(1);
    await expect(outline.getByRole('button', { name: 'Earlier questions' })).toHaveCount(0);
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);

    await entry(3).click();
    await expect(console.said('user').getByText('Question 3', { exact: true })).toBeInViewport();
    if (width < 800) await open();
    await expect(outline.locator('[aria-current]')).toHaveText('Question 3');
    await expect(entry(3)).toBeInViewport();
  });
});
