// The pictures of the README and of docs/console.md.

import { expect, test } from '../support/test.ts';
import { branch, PRICE, price, shorten, tell } from './story.ts';
import { take } from './take.ts';

test.use({ user: 'ada', viewport: { width: 1200, height: 860 } });
test.describe.configure({ mode: 'serial' }); // all with the same user

let session = '';

test('a chat with its state', async ({ console, api, page }) => {
  session = await tell(api);
  await console.signIn(`/s/${session}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  await expect(page.getByTestId('state')).toContainText('walking');
  await expect(page.getByTestId('artifact-chip')).toBeVisible();
  await take(page, 'console-chat.png');
});

test.describe('on a phone', () => {
  const viewport = { width: 360, height: 640 };
  test.use({ viewport, deviceScaleFactor: 2, isMobile: true, hasTouch: true });

  test('a chat', async ({ console, page }) => {
    await console.signIn(`/s/${session}`);
    await expect(page.getByText('written it down')).toBeInViewport();
    await take(page, 'console-phone.png');
  });
});

test('two branches side by side', async ({ console, api, page }) => {
  const fork = await shorten(api, session);
  await console.signIn(`/compare?left=${session}&right=${fork}`);
  await expect(page.getByTestId('pair').first()).toContainText('Two days');
  await expect(page.getByTestId('end').first()).toBeAttached();
  await take(page, 'console-compare.png');
});

test.describe('in dark mode', () => {
  test.use({ colorScheme: 'dark' });

  test('the tree of a session with rewinds and forks', async ({ console, api, page }) => {
    await branch(api, session);
    await console.signIn(`/s/${session}`);
    await page.getByRole('button', { name: 'Side panel' }).click();
    await page.getByRole('tab', { name: 'Tree' }).click();
    await expect(page.getByRole('tabpanel', { name: 'Tree' })).toContainText('With the children');
    await page.getByRole('button', { name: '2 forks of A trip to Lisbon' }).click();
    await expect(page.getByText('Grilled sardines')).toBeInViewport();
    await take(page, 'console-tree.png');
  });
});

test('the turns of a chat', async ({ console, api, page }) => {
  await price(api, session);
  await console.signIn(`/s/${session}/turns`);
  await page.getByText(PRICE).click();
  await expect(page.locator('.turn[open]')).toContainText('budget');
  await take(page, 'console-turns.png');
});
