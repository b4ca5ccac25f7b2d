// What every view of the console must fulfil, at any width and in both themes.

import { expect, type Locator, type Page } from '@playwright/test';
import { allViolations, newViolations } from './accessible.ts';
import { findFaults } from './view-faults.ts';

/**
 * Expects that a part of the page is accessible, inside of the screen, readable and not covered.
 * @param known whether what axe has checked on another screen is not checked again
 */
export async function expectWhole(
  page: Page,
  part: Locator,
  name: string,
  known: boolean,
): Promise<void> {
  await expect(part, name).toBeVisible();
  await expect(page.locator('[aria-busy=true]'), `${name}: still busy`).toHaveCount(0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect.soft(wide, `${name}: pixels beyond the screen`).toBeLessThanOrEqual(0);
  await clean(() => part.evaluate(findFaults), `${name}: what is wrong`);
  // Only the part, because the rest of the page is checked by itself
  await clean(() => (known ? newViolations : allViolations)(part), `${name}: accessibility`);
}

// On a busy machine, rows may still be moved or rendered again when they are first looked at.
async function clean(look: () => Promise<string[]>, what: string): Promise<void> {
  const softly = expect.configure({ soft: true });
  await softly.poll(look, { message: what }).toEqual([]);
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
