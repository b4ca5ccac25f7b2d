// What every view of the console must fulfil, at any width and in both themes.

import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Locator, type Page } from '@playwright/test';
import { findFaults } from './view-faults.ts';

/** Expects that a part of the page is accessible, inside of the screen, readable and not covered. */
export async function expectWhole(page: Page, part: Locator, name: string): Promise<void> {
  await expect(part, name).toBeVisible();
  await expect(page.locator('[aria-busy=true]'), `${name}: still busy`).toHaveCount(0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect.soft(wide, `${name}: pixels beyond the screen`).toBeLessThanOrEqual(0);
  await clean(() => part.evaluate(findFaults), `${name}: what is wrong`);
  await clean(() => violations(page, part), `${name}: accessibility`);
}

// On a busy machine, rows may still be moved or rendered again when they are first looked at.
async function clean(look: () => Promise<string[]>, what: string): Promise<void> {
  const softly = expect.configure({ soft: true });
  await softly.poll(look, { message: what, timeout: 30_000 }).toEqual([]); // axe alone may take 5 s
}

// Only the part, because the rest of the page is checked by itself.
async function violations(page: Page, part: Locator): Promise<string[]> {
  const mark = 'data-checked';
  await part.evaluate((element, name) => element.setAttribute(name, ''), mark);
  const axe = new AxeBuilder({ page }).include(`[${mark}]`).options({ preload: false });
  // Of axe's rules, only contrasts depend on the theme
  const dark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  if (dark) axe.withRules(['color-contrast']);
  let found: Awaited<ReturnType<typeof axe.analyze>>['violations'];
  try {
    found = (await axe.analyze()).violations;
  } catch (error) {
    return [`not checked: ${error}`]; // rendered again, it has lost its mark
  }
  await part.evaluate((element, name) => element.removeAttribute(name), mark);
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target} ${failureSummary ?? ''}`),
  );
}

/** Expects that the element with the focus can be told from the others. */
export async function expectFocusSeen(page: Page, name: string): Promise<void> {
  const seen = await page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return 'nothing has the focus';
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const around = element.parentElement ? getComputedStyle(element.parentElement) : null;
    const marked = outlineStyle !== 'none' && outlineWidth !== '0px';
    const framed = boxShadow !== 'none' || (around && around.outlineStyle !== 'none');
    const text = element.matches('input, textarea, select, dialog, h1, h2, h3, [role=menu]');
    return marked || framed || text ? '' : `no mark on ${element.outerHTML.slice(0, 200)}`;
  });
  expect.soft(seen, `${name}: focus`).toBe('');
}
