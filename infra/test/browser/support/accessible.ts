// Checks the accessibility of the current page with axe.

import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(animationsEnd);
  const { violations } = await new AxeBuilder({ page }).options(withoutStyleSheets).analyze();
  const found = violations.map(({ id, impact, help, nodes }) => ({
    rule: `${id} (${impact}): ${help}`,
    where: nodes.map((node) => `${node.target.join(' ')}  ${node.failureSummary ?? ''}`),
  }));
  expect(found, `accessibility of ${page.url()}`).toEqual([]);
}

// Runs in the page: what fades in has less contrast until it is shown completely.
async function animationsEnd(): Promise<void> {
  const all = document.getAnimations();
  const ending = all.filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(ending.map(({ finished }) => finished));
}

// The rule that reads style sheets (a page locked to one orientation) adds inline styles if one
// is loading at that time, which the page's policy reports as an error.
const withoutStyleSheets = { preload: false };
