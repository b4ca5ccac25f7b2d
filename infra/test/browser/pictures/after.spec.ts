// The pictures "after" of docs/console-before-after.md.

import type { Page } from '@playwright/test';
import type { Console } from '../support/console.ts';
import { menu, message } from '../support/rewinding.ts';
import { expect, test } from '../support/test.ts';
import { directions, expenses, forkedTrip, plan, recipe } from './chats.ts';
import { take } from './take.ts';

const HEIGHT = 700;

// Each with its own chats, and a name that is the same each time
test.use({ user: async ({}, use, { testId }) => use(`ada-${testId.slice(-3)}`) });

const takeAfter = (page: Page, name: string, width: number) =>
  take(page, `before-after/${name}-${width}-after.webp`);

async function open(tab: Console, session: string, width: number): Promise<void> {
  await tab.page.setViewportSize({ width, height: HEIGHT });
  await tab.signIn(`/s/${session}`);
  await expect(tab.chat).toHaveAttribute('aria-busy', 'false');
}

for (const forks of [12, 100]) {
  for (const width of [1280, 375]) {
    test(`the tree of ${forks} forks, ${width} pixels wide`, async ({ console, api, page }) => {
      test.slow();
      await open(console, await forkedTrip(api, forks), width);
      await page.getByRole('button', { name: 'Side panel' }).click();
      await page.getByRole('tab', { name: 'Tree' }).click();
      const list = page.getByRole('list', { name: 'Forks and rewinds, oldest first' });
      await expect(list.locator('[aria-current]')).toBeInViewport();
      await takeAfter(page, `tree-${forks}`, width);
    });
  }
}

for (const width of [1280, 375]) {
  test(`a rewind to an answer, ${width} pixels wide`, async ({ console, api, page }) => {
    await open(console, await recipe(api), width);
    await menu(page, '1.8 %', 'Rewind to this answer');
    await expect(page.getByRole('dialog')).toContainText('2 messages will be hidden.');
    await expect(page.getByRole('dialog')).toContainText('salt');
    await takeAfter(page, 'rewind', width);
  });
}

test('an answer keeps its buttons when a file is saved', async ({ console, api, page }) => {
  await open(console, await plan(api), 1280);
  await expect(page.getByTestId('artifact-chip')).toBeVisible();
  const answer = message(page, 'I have written');
  await page.mouse.move(0, 0);
  await expect(answer.locator('.actions')).toHaveCSS('opacity', '1');
  await takeAfter(page, 'buttons', 1280);
});

test('a narrow table keeps words and amounts whole', async ({ console, api, page }) => {
  await open(console, await expenses(api), 375);
  const amount = page.getByRole('cell', { name: '1,250' });
  await expect(amount).toHaveCSS('text-align', 'right');
  await takeAfter(page, 'table', 375);
});

test('texts follow their own direction', async ({ console, api, page }) => {
  await open(console, await directions(api), 375);
  await expect(page.getByRole('heading', { name: 'ثلاثة أيام' })).toHaveCSS('direction', 'rtl');
  await takeAfter(page, 'direction', 375);
});

test('a toast is above the page', async ({ console, api, page }) => {
  await open(console, await expenses(api), 375);
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
  });
  await message(page, 'It costs').getByRole('button', { name: 'Copy' }).click();
  await expect(page.getByTestId('toast')).toBeVisible();
  await takeAfter(page, 'toast', 375);
});
