// Checks the accessibility of the current page with axe, once for each structure that is new.

import { createRequire } from 'node:module';
import { expect, type Locator, type Page } from '@playwright/test';
import type { AxeResults, RunOptions } from 'axe-core';
import { structureOf } from './structure.ts';

const { source } = createRequire(import.meta.url)('axe-core') as { source: string };

// What this worker has checked in a colour scheme: pages differ less than tests.
const checked = { light: new Set<number>(), dark: new Set<number>() };

/** Expects that the page is accessible; what was checked before in its place is not checked again. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(animationsEnd);
  const found = await newViolations(page.locator('html'));
  expect(found, `accessibility of ${page.url()}`).toEqual([]);
}

/** Checks an element unless each part of it was checked before in its place; returns what is wrong. */
export async function newViolations(element: Locator): Promise<string[]> {
  const scheme = await schemeOf(element.page());
  const parts = await element.evaluate(structureOf);
  if (parts.every((part) => checked[scheme].has(part))) return [];
  // Only contrasts depend on the scheme
  const known = scheme === 'dark' && parts.every((part) => checked.light.has(part));
  const found = await violations(element, known ? contrast : {});
  if (found.length === 0) for (const part of parts) checked[scheme].add(part);
  return found;
}

/** Checks an element, in the dark its contrasts; returns what is wrong. */
export async function allViolations(element: Locator): Promise<string[]> {
  const scheme = await schemeOf(element.page());
  return violations(element, scheme === 'dark' ? contrast : {});
}

const contrast: RunOptions = { runOnly: ['color-contrast'] };

async function violations(element: Locator, rules: RunOptions): Promise<string[]> {
  const page = element.page();
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  // The rule that reads style sheets (a page locked to one orientation) adds inline styles if one
  // is loading at that time, which the page's policy reports as an error.
  const options: RunOptions = { ...rules, preload: false, resultTypes: ['violations'] };
  return element.evaluate(async (node, options) => {
    const axe = (window as unknown as { axe: { run: Run } }).axe;
    type Run = (node: Element, options: RunOptions) => Promise<AxeResults>;
    return (await axe.run(node as Element, options)).violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target} ${failureSummary}`),
    );
  }, options);
}

const schemeOf = async (page: Page): Promise<keyof typeof checked> =>
  (await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches))
    ? 'dark'
    : 'light';

// Runs in the page: what fades in has less contrast until it is shown completely.
async function animationsEnd(): Promise<void> {
  const all = document.getAnimations();
  const ending = all.filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(ending.map(({ finished }) => finished));
}
