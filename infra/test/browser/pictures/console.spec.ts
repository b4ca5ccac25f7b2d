// The pictures of the README and of docs/console.md.

import { expect, test } from '../support/test.ts';
import { branch, tell } from './story.ts';
import { take } from './take.ts';

test.use({ user: 'ada', viewport: { width: 1200, height: 750 } });
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
  test.use({ viewport: { width: 360, height: 640 }, deviceScaleFactor: 2, isMobile: true });

  test('a chat', async ({ console, page }) => {
    await console.signIn(`/s/${session}`);
    await expect(page.getByText('written it down')).toBeInViewport();
    await take(page, 'console-phone.png');
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
    await take(page, 'console-tree.png');
  });
});
