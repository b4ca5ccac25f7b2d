// The search of what was said.

import { expectAccessible } from '../support/accessible.ts';
import { expect, test } from '../support/test.ts';

test('a search finds what was said, and opens the chat there', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'A trip' });
  const more = Array.from({ length: 60 }, (_, i): [string, string] => [`Q ${i}`, `A ${i}`]);
  await api.say(id, ['Where to?', 'To the crème brûlée of Lisbon.'], ...more);
  const other = await api.createSession({ name: 'Lisbon is only in the name' });
  await api.say(other.id, ['Hello', 'Hi']);
  await console.signIn();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('lisbon creme');
  await page.getByRole('option', { name: 'Search in messages: lisbon creme' }).click();

  const result = page.getByTestId('search-result');
  await expect(result).toHaveCount(1);
  await expect(result.locator('mark')).toHaveText(['crème', 'Lisbon']);
  await expect(page.getByTestId('search-state')).toHaveText('1 chat');
  await expectAccessible(page);
  const field = page.getByRole('searchbox', { name: 'Words that were said' });
  await field.press('ArrowDown');
  await expect(result.getByRole('link')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(id));
  await expect(page.getByText('Where to?', { exact: true })).toBeInViewport();

  await page.goBack();
  await expect(result).toHaveCount(1);
  await field.fill('nobody said that');
  await expect(page.getByTestId('search-state')).toHaveText('Nothing was found.');
});

test('the search of chats leads to the search of messages; a failure can be tried again', async ({
  console,
  api,
  faults,
  page,
}) => {
  faults.allow(/ERR_FAILED/);
  const { id } = await api.createSession({ name: 'A trip' });
  await api.say(id, ['Where to?', 'Porto.']);
  await console.signIn();
  await page.route(/in=messages/, (route) => route.abort());
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('porto');
  await page.getByRole('link', { name: 'Search in messages' }).click();
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The search failed.');
  await page.unroute(/in=messages/);
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByTestId('search-result')).toContainText('Porto.');
});
