// What a chat looks like on screens of different widths: nothing is cut, covered or out of reach.

import type { Locator, Page } from '@playwright/test';
import { boxOf } from '../support/boxes.ts';
import { menu } from '../support/rewinding.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';
import { CONTENT, talk } from '../support/wide-content.ts';

// From 832 pixels on the list stays, up to 1,008 the panel covers the chat; beyond it is narrowest.
const WIDTHS = [375, 900, 1009, 1440];

/** How many lines the text of an element takes. */
const linesOf = (element: Locator): Promise<number> =>
  element.evaluate((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
  });

/** Whether two elements have a point in common. */
async function overlap(one: Locator, other: Locator): Promise<boolean> {
  const [a, b] = [await boxOf(one), await boxOf(other)];
  const apart = (from: number, length: number, to: number) => from + length <= to;
  return !(
    apart(a.x, a.width, b.x) ||
    apart(b.x, b.width, a.x) ||
    apart(a.y, a.height, b.y) ||
    apart(b.y, b.height, a.y)
  );
}

const fits = async (page: Page, width: number) =>
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);

for (const width of WIDTHS) {
  test(`${width} pixels wide, nothing is cut or covered`, async ({ console, api, page }) => {
    const id = await talk(api);
    await page.setViewportSize({ width, height: 800 });
    await console.signIn(`/s/${id}`);

    await test.step('words stay whole, and columns are aligned', async () => {
      const table = page.getByRole('region', { name: 'Table' });
      for (const word of CONTENT.words) {
        expect(await linesOf(table.getByText(word, { exact: true })), word).toBe(1);
      }
      const amount = table.getByRole('columnheader', { name: 'Amount' });
      await expect(amount).toHaveCSS('text-align', 'right');
      await expect(table.getByRole('cell', { name: '1,250' })).toHaveCSS('text-align', 'right');
      const key = page.getByRole('list', { name: 'State changes' }).getByText(CONTENT.key);
      expect(await linesOf(key)).toBe(1);
      await expect(page.getByRole('checkbox', { name: 'Book the ferry' })).toBeChecked();
      await fits(page, width);
    });

    await test.step('a toast does not cover the chat', async () => {
      await page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
      });
      await page.getByTestId('message').last().hover();
      await page.getByTestId('message').last().getByRole('button', { name: 'Copy' }).click();
      const toast = page.getByTestId('toast');
      await expect(toast).toBeVisible();
      await expect.poll(() => overlap(toast, console.chat)).toBe(false);
      await fits(page, width);
      await toast.getByRole('button', { name: 'Dismiss' }).click();
      await expect.poll(async () => (await console.chat.boundingBox())?.y).toBe(0);
    });

    await test.step('the side panel leaves room for the chat', async () => {
      await page.getByRole('button', { name: 'Side panel' }).click();
      await expect(page.getByTestId('state')).toBeVisible();
      expect((await boxOf(console.chat)).width).toBeGreaterThanOrEqual(Math.min(width, 440));
      const close = page.getByRole('button', { name: 'Close the side panel' });
      const tabs = await page.getByRole('tab').all();
      expect(tabs).toHaveLength(5);
      for (const tab of tabs) expect(await overlap(tab, close), await tab.innerText()).toBe(false);
      const modal = page.locator('.panel:modal');
      await expect(modal).toHaveCount(width <= 1008 ? 1 : 0);
    });
  });
}

test('dialogs about long names and questions stay on a phone', async ({ console, api, page }) => {
  const long = 'Ponte-Vasco-da-Gama/'.repeat(9);
  const { id } = await api.createSession({ name: long });
  await api.say(id, ['One', 'First.'], [long, 'Second.'], ['Three', 'Third.']);
  await page.setViewportSize({ width: 375, height: 700 });
  await console.signIn(`/s/${id}`);
  const openings: [string, () => Promise<void>][] = [
    ['Fork from before', () => menu(page, long, 'Fork from before this question')],
    ['Rewind to before', () => menu(page, long, 'Rewind to before this question')],
    [
      'Ask again from here',
      async () => {
        await page.goto(`${console.url}/console/s/${id}/turns`);
        await page.locator('summary').filter({ hasText: long }).click();
        await page.getByRole('button', { name: 'Ask again from here' }).click();
        await expect(page.getByTestId('plan')).toContainText('Fork of Ponte');
      },
    ],
  ];
  for (const [name, open] of openings) {
    await open();
    const dialog = page.getByRole('dialog', { name });
    await expect(dialog).toContainText('Ponte-Vasco');
    const wider = await dialog.evaluate((element) =>
      [element, ...element.querySelectorAll('*')]
        .filter((one) => getComputedStyle(one).overflowX !== 'hidden' && !one.matches('input'))
        .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth)
        .map((one) => one.outerHTML.slice(0, 100)),
    );
    expect(wider, name).toEqual([]);
    const box = await boxOf(dialog);
    expect(box.x, name).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width, name).toBeLessThanOrEqual(375);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
  }
  await fits(page, 375);
});

onScreens(ALL, ({ openList }) => {
  test('a missing session leaves a way to the others', async ({ console, api, page, faults }) => {
    faults.allow(/status of 404/);
    const { id } = await api.createSession({ name: 'Trip' });
    await console.signIn('/s/none');
    await expect(page.getByRole('heading', { name: 'does not exist' })).toBeVisible();
    await openList(page);
    await page.getByRole('link', { name: 'Trip' }).click();
    await expect(page).toHaveURL(new RegExp(`/s/${id}$`));
    await expect(page.getByRole('heading', { name: 'Trip' })).toBeVisible();
  });
});

test('texts and names follow their own direction', async ({ console, api, page }) => {
  const name = 'رحلة إلى Lisbon';
  const { id } = await api.createSession({ name });
  await api.say(id, ['مرحبا! 1, 2.', '# عنوان\n\nنص عربي.\n\nEnglish again.']);
  await api.say(id, ['Hello', 'Hello.']);
  await console.signIn(`/s/${id}`);
  const direction = (element: Locator) => expect.poll(() => directionOf(element));
  await direction(page.locator('.said').first()).toBe('rtl');
  await direction(page.locator('.said').last()).toBe('ltr');
  await direction(page.getByText('نص عربي.')).toBe('rtl');
  await direction(page.getByText('English again.')).toBe('ltr');
  await direction(page.getByRole('heading', { name }).getByRole('button')).toBe('rtl');
  await direction(page.locator('.session-name')).toBe('rtl');
  await page.getByRole('textbox', { name: 'Message' }).fill('مرحبا');
  await direction(page.getByRole('textbox', { name: 'Message' })).toBe('rtl');
});

const directionOf = (element: Locator): Promise<string> =>
  element.evaluate((node) => getComputedStyle(node).direction);

test('a failed tool call is told from a good one', async ({ console, api, page }) => {
  const id = await talk(api);
  await console.signIn(`/s/${id}`);
  await expect(page.getByTestId('tool')).toContainText(['timetable']);
  await page.getByTestId('calls').locator('summary').first().click();
  const [good, failed] = [page.getByTestId('tool').first(), page.getByTestId('tool').nth(1)];
  await expect(good).not.toContainText('failed');
  await expect(failed).toContainText('timetable');
  await expect(failed).toContainText('failed');
  await expect(failed.locator('.preview')).toHaveText('No ferry on Mondays.');
  await failed.locator('summary').click();
  await expect(failed.getByText('Error', { exact: true })).toBeVisible();
});

test('an answer keeps its buttons when a file is saved for its turn', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession();
  const [invocation] = await api.say(id, ['A plan, please', 'Here it is.']);
  await api.put(id, 'plan.md', 'text/markdown', '# Plan', invocation);
  await console.signIn(`/s/${id}`);
  await expect(page.getByTestId('artifact-chip')).toBeVisible();
  const answer = page.getByTestId('message').filter({ hasText: 'Here it is.' });
  await expect(answer.getByRole('button', { name: 'Good answer' })).toBeVisible();
  await expect(answer.getByRole('button', { name: 'More' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Good answer' })).toHaveCount(1);
  await answer.getByRole('button', { name: 'Good answer' }).click();
  await expect(answer.getByRole('textbox', { name: 'Your comment' })).toBeVisible();
});

test('rewound history shows each change of state once', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  await api.say(id, ['Hello', 'Hello.']);
  await console.signIn(`/s/${id}`);
  await console.ask('/state city=Lisbon');
  await console.waitFor('idle');
  const change = page.getByRole('list', { name: 'State changes' });
  await expect(change).toHaveCount(1);
  const { invocation_id: asked } = (await api.events(id)).at(-1) ?? {};
  await api.rewind(id, asked ?? '');
  await expect(change).toHaveCount(0);
  await page.getByRole('button', { name: 'Show rewound history' }).click();
  await expect(page.getByTestId('marker')).toHaveCount(1);
  await expect(change).toHaveCount(1);
});
