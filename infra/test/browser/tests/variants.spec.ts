// A question that was asked in several ways: ‹ 2/3 ›.

import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible.ts';
import { Api } from '../support/api.ts';
import { fork } from '../support/rewinding.ts';
import { expect, test } from '../support/test.ts';
import { tripWithVariants } from '../support/trip.ts';

const switcher = (page: Page, which: string) => page.getByRole('group', { name: which });

const arrow = (page: Page, which: string, name: 'Previous' | 'Next') =>
  switcher(page, which).getByRole('button', { name: `${name} variant` });

test('arrows lead to each variant and what followed it', async ({
  console,
  api,
  page,
  openTab,
}) => {
  const id = await tripWithVariants(api);
  const state = async () => await api.send('GET', `/sessions/${id}/state`);
  await console.signIn(`/s/${id}`);
  const other = await openTab(id);
  await expect(switcher(page, 'Variant 3 of 3')).toBeVisible();
  await expectAccessible(page);

  await arrow(page, 'Variant 3 of 3', 'Previous').click();
  await expect(console.said('user')).toHaveText(['One', 'Other']);
  await expect(arrow(page, 'Variant 2 of 3', 'Previous')).toBeFocused();
  await page.keyboard.press('Enter');
  for (const tab of [console, other]) {
    await expect(tab.said('user')).toHaveText(['One', 'Two', 'Three']);
    await expect(switcher(tab.page, 'Variant 1 of 3')).toBeVisible();
  }
  await expect(arrow(page, 'Variant 1 of 3', 'Previous')).toBeFocused();
  expect(await state()).toMatchObject({ data: { merged: { city: 'Porto' } } });
  await page.keyboard.press('Enter'); // there is none before it
  await expect(arrow(page, 'Variant 1 of 3', 'Previous')).toHaveAttribute('aria-disabled', 'true');
  expect((await api.session(id)).epoch).toBe(4);

  await page.keyboard.press('Control+z');
  await expect(console.said('user')).toHaveText(['One', 'Other']);
  await page.keyboard.press('Control+z');
  await expect(console.said('user')).toHaveText(['One', 'Another']);
  await expect(switcher(other.page, 'Variant 3 of 3')).toBeVisible();
  expect(await state()).toMatchObject({ data: { merged: {} } });
  await page.reload();
  await expect(switcher(page, 'Variant 3 of 3')).toBeVisible();
});

test('asking again makes a variant, also within another one', async ({ console, page }) => {
  const again = async (question: string, text: string) => {
    const asked = page.getByRole('article', { name: 'You' }).filter({ hasText: question });
    await asked.hover();
    await asked.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Edit the question' }).fill(text);
    await page.keyboard.press('Enter');
    await expect(console.said('agent').last()).toContainText(`You said: "${text}"`);
    await console.waitFor('idle');
  };
  await console.signIn();
  await console.ask('One');
  await console.waitFor('idle');
  await again('One', 'Uno');
  await expect(switcher(page, 'Variant 2 of 2')).toBeVisible();
  await console.ask('Due');
  await console.waitFor('idle');
  await again('Due', 'Tre');
  await expect(switcher(page, 'Variant 2 of 2')).toHaveCount(2);
  await arrow(page, 'Variant 2 of 2', 'Previous').first().click();
  await expect(console.said('user')).toHaveText(['One']);
  await arrow(page, 'Variant 1 of 2', 'Next').click();
  await expect(console.said('user')).toHaveText(['Uno', 'Tre']);
  await page.getByTestId('message').last().hover();
  await page.getByRole('button', { name: 'Regenerate' }).last().click();
  await expect(switcher(page, 'Variant 3 of 3')).toBeVisible();
  await expect(console.said('agent').last()).toContainText('You said: "Tre"');
  await console.waitFor('idle');
});

test('a variant in a fork is in its own chat, and leads back', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Trip' });
  const [, two] = await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  const { id: other } = await fork(api, id, 'Elsewhere', two);
  await api.say(other, ['Other', 'Else.'], ['More', 'More.']);
  await console.signIn(`/s/${id}`);
  await expect(switcher(page, 'Variant 1 of 2')).toBeVisible();
  await arrow(page, 'Variant 1 of 2', 'Next').click();
  await expect(page.getByRole('heading', { name: 'Elsewhere' })).toBeVisible();
  await expect(console.said('user')).toHaveText(['One', 'Other', 'More']);
  await expect(page.getByRole('article', { name: 'You' }).nth(1)).toBeFocused();
  await expect(switcher(page, 'Variant 2 of 2')).toBeVisible();
  await expect(arrow(page, 'Variant 2 of 2', 'Previous')).toHaveAccessibleName(/Trip/);
  await arrow(page, 'Variant 2 of 2', 'Previous').click();
  await expect(console.said('user')).toHaveText(['One', 'Two']);
  expect((await api.session(id)).epoch).toBe(0);
});

test('two tabs that switch at once end with the same', async ({
  console,
  api,
  page,
  faults,
  openTab,
}) => {
  faults.allow(/status of 409/);
  const id = await tripWithVariants(api);
  await console.signIn(`/s/${id}`);
  const other = await openTab(id);
  const { epoch } = await api.session(id);
  const tabs = [page, other.page];
  const arrows = await Promise.all(
    tabs.map((tab) => arrow(tab, 'Variant 3 of 3', 'Previous').elementHandle()),
  );
  // Playwright's click takes so long that one tab might show the other's switch before
  await Promise.all(arrows.map((one) => one?.evaluate((button: HTMLElement) => button.click())));
  await expect(console.said('user')).toHaveText(['One', 'Other']);
  await expect(other.said('user')).toHaveText(['One', 'Other']);
  for (const tab of tabs) await expect(switcher(tab, 'Variant 2 of 3')).toBeVisible();
  expect((await api.session(id)).epoch).toBe(epoch + 1);
});

test('another variant waits for the answer', async ({ console, api, page }) => {
  const id = await tripWithVariants(api);
  await console.signIn(`/s/${id}`);
  await console.ask('/long 2000');
  await expect(console.said('agent').last()).toContainText('word3 ');
  await arrow(page, 'Variant 3 of 3', 'Previous').click();
  await expect(page.getByTestId('toast')).toContainText('Wait for the answer');
  await page.getByRole('button', { name: 'Stop' }).click();
  await console.waitFor('idle');
  await arrow(page, 'Variant 3 of 3', 'Previous').click();
  await expect(console.said('user')).toHaveText(['One', 'Other']);
});

test('a reader sees how many there are', async ({ console, api, page, user }) => {
  const owner = new Api(api.url, `${user}-owner`);
  const id = await tripWithVariants(owner);
  await owner.send('POST', `/sessions/${id}/shares`, { user_id: user, access: 'read' });
  await console.signIn(`/s/${id}`);
  await expect(switcher(page, 'Variant 3 of 3')).toHaveText('3/3');
  await expect(switcher(page, 'Variant 3 of 3').getByRole('button')).toHaveCount(0);
});

test('they cost one read of the log, and none without rewinds and forks', async ({
  console,
  api,
  page,
}) => {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (/view=all|\/forks/.test(request.url())) asked.push(request.url());
  });
  const { id: plain } = await api.createSession();
  await api.say(plain, ['One', 'First.']);
  const id = await tripWithVariants(api);
  await console.signIn(`/s/${plain}`);
  await expect(console.said('user')).toHaveText(['One']);
  await expect(page.getByRole('link', { name: 'Trip' })).toBeVisible();
  expect(asked).toEqual([]);
  await page.getByRole('link', { name: 'Trip' }).click();
  await expect(page).toHaveURL(new RegExp(id));
  await expect(switcher(page, 'Variant 3 of 3')).toBeVisible();
  expect(asked.filter((url) => url.includes('/forks'))).toEqual([]);
  expect(asked.filter((url) => url.includes('after=0&'))).toHaveLength(1);
});
