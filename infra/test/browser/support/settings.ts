// What tests of the settings have in common.

import type { Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { expect } from './test.ts';

/** Expects that the page is accessible, and that nothing is wider than the screen. */
export async function expectGood(page: Page, width: number): Promise<void> {
  await expectAccessible(page);
  const widest = () =>
    page.evaluate(() => {
      const parts = document.querySelectorAll('.settings, .settings-page');
      return Math.max(
        document.documentElement.scrollWidth - innerWidth,
        ...[...parts].map((part) => part.scrollWidth - part.clientWidth),
      );
    });
  expect(await widest(), `beyond ${width} pixels`).toBeLessThanOrEqual(0);
  if (width >= 800) return;
  const tops = await page
    .locator('.settings-nav a')
    .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().top));
  expect(new Set(tops).size, 'lines of sections').toBeLessThanOrEqual(1);
}
