// The tree of forks and rewinds, as a graph and as an accessible list.

import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible.ts';
import type { Session } from '../support/api.ts';
import { boxOf } from '../support/boxes.ts';
import { fork, rewind } from '../support/rewinding.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { test as base, expect } from '../support/test.ts';

interface Family {
  root: string;
  child: string;
}

/** A session that was rewound to before `Two`, with a fork from before it that was continued. */
const test = base.extend<{ family: Family }>({
  family: async ({ api }, use) => {
    const { id: root } = await api.createSession({ name: 'Trip' });
    const [, two] = await api.say(root, ['One', 'First.'], ['Two', 'Second.']);
    await rewind(api, root, two);
    await api.say(root, ['Three', 'Third.']);
    const { id: child } = await fork(api, root, 'Porto instead', two);
    await api.say(child, ['Four', 'Fourth.']);
    await use({ root, child });
  },
});

async function openTree(page: Page) {
  await page.getByRole('button', { name: 'Side panel' }).click();
  await page.getByRole('tab', { name: 'Tree' }).click();
  const list = page.getByRole('list', { name: 'Forks and rewinds, oldest first' });
  await expect(list).toBeVisible();
  const row = (name: string | RegExp) => list.getByRole('button', { name });
  return { list, row, rows: list.getByRole('listitem').locator('.tree-text') };
}

test('shows the path of a conversation', async ({ console, page, family }) => {
  await console.signIn(`/s/${family.root}`);
  const { rows, row } = await openTree(page);
  await expect(rows).toHaveText([
    'Trip',
    'One',
    'Two',
    'Rewound to before “Two”',
    'Porto instead',
    'Four',
    'Three',
  ]);
  await expect(row(/^Three/)).toHaveAttribute('aria-current', 'location');
  await expect(row(/^Two \(rewound\)/)).toBeVisible();
  await expect(page.getByTestId('tree-graph').locator('.tree-dot')).toHaveCount(7);
});

test('opens other branches', async ({ console, page, family }) => {
  await console.signIn(`/s/${family.root}`);
  const { row, rows } = await openTree(page);
  await row(/^Four/).click();
  await expect(page).toHaveURL(new RegExp(`/s/${family.child}`));
  await expect(console.said('user')).toHaveText(['One', 'Four']);
  await expect(row(/^Four/)).toHaveAttribute('aria-current', 'location');
  await expect(rows.last()).toHaveText('Four'); // the path to it is the straight line
  await row(/^Trip/).click();
  await expect(page).toHaveURL(new RegExp(`/s/${family.root}`));
  await expect(console.said('user')).toHaveText(['One', 'Three']);
});

test('opens hidden messages in the history', async ({ console, page, family }) => {
  await console.signIn(`/s/${family.root}`);
  const { row } = await openTree(page);
  await row(/^Two/).click();
  await expect(page.getByTestId('rewound').first()).toContainText('Two');
  await expect(page.getByTestId('message').filter({ hasText: 'Two' })).toBeFocused();
  await row(/^Rewound/).click();
  await expect(page.getByTestId('marker')).toBeFocused();
  await row(/^Three/).click();
  await expect(page.getByTestId('thread')).toBeVisible(); // back in the chat
  await expect(page.getByTestId('message').filter({ hasText: 'Three' })).toBeFocused();
});

test('scrolls to a message far up', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  const turns = Array.from({ length: 120 }, (_, i) => [`Question ${i}`, `Answer ${i}`]);
  await api.say(id, ...(turns as [string, string][]));
  await console.signIn(`/s/${id}`);
  await expect(page.getByText('Answer 119', { exact: true })).toBeVisible();
  const { row } = await openTree(page);
  await row(/^\d+ more/).click(); // long straight runs are folded
  await row(/^Question 42\b/).click();
  await expect(page.getByText('Question 42', { exact: true }).last()).toBeInViewport();
  await expect(page.getByTestId('message').filter({ hasText: /^Question 42/ })).toBeFocused();
});

test('can be used with the keyboard only', async ({ console, page, family }) => {
  await console.signIn(`/s/${family.root}`);
  const { row } = await openTree(page);
  await page.getByRole('tab', { name: 'Tree' }).focus();
  await page.keyboard.press('Tab'); // closes the panel
  await page.keyboard.press('Tab'); // compares branches
  await page.keyboard.press('Tab'); // the wide view
  await page.keyboard.press('Tab');
  await expect(row(/^Three/)).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(row(/Porto instead/).first()).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(row(/^Four/)).toBeHidden();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await expect(row(/^Four/)).toBeFocused();
  await page.keyboard.press('Home');
  await expect(row(/^Trip/)).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(console.said('user')).toHaveText(['One', 'Four']);
});

test('grows with the conversation', async ({ console, api, page, family }) => {
  await console.signIn(`/s/${family.root}`);
  const { rows, row } = await openTree(page);
  await console.ask('Five');
  await expect(row(/^Five/)).toHaveAttribute('aria-current', 'location');
  await console.waitFor('idle');
  const [six] = await api.say(family.child, ['Six', 'Sixth.']); // another tab, another session
  await expect(rows.filter({ hasText: 'Six' })).toHaveText('Six');
  await rewind(api, family.child, six);
  await expect(rows.filter({ hasText: 'Six' })).toHaveText(['Six', 'Rewound to before “Six”']);
});

onScreens(ALL, ({ width, narrow, resize }) => {
  test('can be read, and leads to other chats', async ({ console, page, family }) => {
    await console.signIn(`/s/${family.root}`);
    await resize(page);
    const { row } = await openTree(page);
    await expect(row(/Porto instead/).first()).toBeVisible();
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await row(/^Four/).click();
    await expect(page).toHaveURL(new RegExp(`/s/${family.child}`));
    await expect(console.said('user')).toHaveText(['One', 'Four']);
    if (narrow) await openTree(page); // it covered the chat, and has made way
    await expect(row(/^Four/)).toHaveAttribute('aria-current', 'location');
  });
});

test('a hundred forks can be read on a phone and on a desktop', async ({ console, api, page }) => {
  test.setTimeout(600_000);
  const { id } = await api.createSession({ name: 'Trip to Lisbon' });
  const said = await api.say(id, ['One', 'First.'], ['Two', 'Second.'], ['Three', 'Third.']);
  const forks: Session[] = []; // one after another: many at once meet in their origin
  for (let i = 0; i < 100; i++) {
    forks.push(await fork(api, id, `Idea ${i}`, said[i % 2 === 0 ? 1 : 2]));
  }
  const ask = ({ id: forked, name }: Session) =>
    api.say(forked, [`What about ${name.toLowerCase()}?`, 'Good.']);
  for (let n = 0; n < 100; n += 10) await Promise.all(forks.slice(n, n + 10).map(ask));
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/\/forks$/, async (route) => {
    await asked;
    await route.continue();
  });
  await console.signIn(`/s/${id}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  await page.getByRole('tab', { name: 'Tree' }).click();
  await expect(page.getByTestId('tree').getByRole('status')).toContainText('Loading the tree…');
  answer();
  const list = page.getByRole('list', { name: 'Forks and rewinds, oldest first' });
  const rows = list.getByRole('listitem');
  await expect(list.getByText('42 older branches')).toHaveCount(2);
  await expect(rows).toHaveCount(22);
  for (const width of [375, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    const here = list.locator('[aria-current]');
    await expect(here).toBeInViewport();
    expect((await boxOf(here)).height).toBeLessThanOrEqual(36); // one line
    const graph = await boxOf(page.getByTestId('tree-graph'));
    expect(graph.width).toBeLessThan(60);
    const names = await list.getByText(/^Idea \d+$/).all();
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(await isCut(name)).toBe(false);
    await expectAccessible(page);
  }
  await list.getByText('42 older branches').first().click();
  await expect(rows).toHaveCount(22 + 41);
  await list.getByRole('button', { name: 'Unfold Idea 42: 1 turn' }).click();
  await expect(list.getByText('What about idea 42?')).toBeVisible();

  await page.getByRole('button', { name: 'Wide view' }).click();
  const wide = page.getByRole('dialog', { name: 'Trip to Lisbon' });
  await expect(wide.getByText('What about idea 98?')).toBeVisible(); // its newest question
  await expectAccessible(page);
  await wide
    .getByRole('button', { name: /Idea 44/ })
    .first()
    .click();
  await expect(wide).toBeHidden();
  await expect(page.getByRole('heading', { name: 'Idea 44' })).toBeVisible();
});

const isCut = (element: Locator): Promise<boolean> =>
  element.evaluate((node) => node.scrollWidth > node.clientWidth);
