// What a page that people copy must be: readable on a phone, in the light and in the dark, whatever
// is said, while it is said.

import { expect, type Page } from '@playwright/test';
import { allViolations } from './accessible.ts';

const WIDTH = 375;
const LONG_WORD = 'incomprehensibilities'.repeat(20);

/** Expects that of an open chat with a demo agent, in which this asks questions. */
export async function expectReadable(page: Page, ask: (text: string) => Promise<void>) {
  const phone = await page.context().newCDPSession(page);
  const size = { width: WIDTH, height: 667, deviceScaleFactor: 2 };
  await phone.send('Emulation.setDeviceMetricsOverride', { ...size, mobile: true });
  const last = page.locator('article').last();
  await ask(LONG_WORD);
  await expect(last).toContainText('Try /help.');
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toHaveCount(0);
  await ask('/long 300');
  await expect(last).toContainText('word60 ');
  expect(await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth])).toEqual([
    WIDTH,
    WIDTH,
  ]);
  await expect.poll(() => ends(page), 'the end of the answer is followed').toBeLessThan(40);

  await page.locator('.log').evaluate((log) => log.scrollBy(0, -250));
  const top = () => last.evaluate((article) => Math.round(article.getBoundingClientRect().top));
  const read = await top();
  await expect(last).toContainText('word120 ');
  expect(await top(), 'what is read stays in its place').toBe(read);
  expect(await ends(page)).toBeGreaterThan(250);

  await ask('And then?');
  await expect(page.getByText('Waiting')).toBeInViewport();
  await expect(page.getByText('And then?')).toBeInViewport();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await allViolations(page.locator('html')), colorScheme).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null });
  await expect(last).toContainText('You said: "And then?"');
  await phone.send('Emulation.clearDeviceMetricsOverride');
}

/** How many pixels the end of the conversation is below the composer's upper edge. */
function ends(page: Page): Promise<number> {
  return page.evaluate(() => {
    const bottom = document.querySelector('article:last-of-type')?.getBoundingClientRect().bottom;
    return (bottom ?? 0) - (document.querySelector('form')?.getBoundingClientRect().top ?? 0);
  });
}
