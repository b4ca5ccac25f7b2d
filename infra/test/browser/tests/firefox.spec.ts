// The main flows in Firefox.

import { randomUUID } from 'node:crypto';
import { test as base, expect } from '@playwright/test';
import type { Browser } from 'puppeteer-core';
import { Firefox, startFirefox } from '../support/firefox.ts';

const test = base.extend<object, { firefoxBrowser: Browser }>({
  firefoxBrowser: [
    async ({}, use) => {
      const browser = await startFirefox();
      await use(browser);
      await browser.close();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});
test.describe.configure({ mode: 'default' }); // one worker, and so one Firefox

for (const width of [1280, 375]) {
  test(`Firefox, ${width} pixels wide: sign in, chat, rewind, reload, fork, see the tree`, async ({
    firefoxBrowser,
  }) => {
    const firefox = await Firefox.open(firefoxBrowser, width);
    const { page } = firefox;
    const url = `${process.env.RETHREAD_URL}/console`;
    await firefox.signIn(url, `user-${randomUUID().slice(0, 8)}`);

    await firefox.ask('Where to?');
    await firefox.settled();
    await firefox.ask('/long 100');
    await page.waitForSelector('[data-testid=message][data-status=in_progress]');
    await firefox.settled();
    const [first = '', long = ''] = await firefox.said('agent');
    expect(first).toContain('Where to?');
    expect(long.length, 'a streamed answer').toBeGreaterThan(300);

    await firefox.menu('/long 100', 'Rewind to before this question');
    await firefox.submit();
    await expect.poll(() => firefox.said('user')).toEqual(['Where to?']);
    const draft = () => page.$eval('textarea[aria-label=Message]', (field) => field.value);
    await expect.poll(draft).toBe('/long 100');
    await page.reload();
    await expect.poll(() => firefox.said('agent')).toEqual([first]);
    expect(await draft(), 'the draft after a reload').toBe('/long 100');

    const address = page.url();
    await firefox.menu(first, 'Fork from this answer');
    await firefox.submit();
    await expect.poll(() => page.url()).not.toBe(address);
    await expect.poll(() => firefox.said('agent')).toEqual([first]);

    await page.locator('button[aria-label="Side panel"]').click();
    await (await firefox.find('[role=tab]', 'Tree')).click();
    await page.waitForSelector('.tree-row[aria-current]');
    expect(firefox.faults).toEqual([]);
  });
}
