// The screenshots of the README. SCREENSHOTS=1 writes the files; otherwise they are only taken, to
// test that what they show still works.

import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { branch, tell } from '../support/story.ts';
import { expect, test } from '../support/test.ts';

const FOLDER = fileURLToPath(new URL('../../../../docs/images/', import.meta.url));
const LARGEST = 150_000; // bytes

test.use({ user: 'ada', viewport: { width: 1200, height: 750 } });
test.describe.configure({ mode: 'serial' }); // all with the same user

let session = '';

test('a chat with its state', async ({ console, api, page }) => {
  session = await tell(api);
  await console.signIn(`/s/${session}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  await expect(page.getByTestId('state')).toContainText('walking');
  await expect(page.getByTestId('artifact-chip')).toBeVisible();
  await take(page, 'chat');
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 360, height: 640 }, deviceScaleFactor: 2, isMobile: true });

  test('a chat', async ({ console, page }) => {
    await page.goto(`${console.url}/console/s/${session}`);
    await page.getByLabel('Your name').fill(console.user);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByText('written it down')).toBeInViewport();
    await take(page, 'phone');
  });
});

test.describe('in dark mode', () => {
  test.use({ colorScheme: 'dark' });

  test('the tree of a session with rewinds and forks', async ({ console, api, page }) => {
    await branch(api, session);
    await console.signIn(`/s/${session}`);
    await page.getByRole('button', { name: 'Side panel' }).click();
    await page.getByRole('tab', { name: 'Tree' }).click();
    await expect(page.getByRole('tabpanel', { name: 'Tree' })).toContainText('With the children');
    await expect(page.getByText('Grilled sardines')).toBeInViewport();
    await take(page, 'tree');
  });
});

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    // Clocks differ from run to run.
    for (const time of document.querySelectorAll('time')) time.style.visibility = 'hidden';
  });
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  expect(picture.length).toBeLessThan(LARGEST);
  if (process.env.SCREENSHOTS !== '1') return;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(`${FOLDER}console-${name}.png`, picture);
}
