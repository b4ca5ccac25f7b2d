// The fixtures of every test: a new user, the page, the API, and the checks at its end.

import { randomUUID } from 'node:crypto';
import { test as base, expect } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { Api } from './api.ts';
import { Console } from './console.ts';
import { Faults } from './faults.ts';

interface Fixtures {
  /** Address of the system. */
  url: string;
  user: string;
  api: Api;
  faults: Faults;
  /** The console in the first tab, signed out. */
  console: Console;
  /** Opens a session in another tab, behind the first one. */
  openTab: (session: string) => Promise<Console>;
}

export const test = base.extend<Fixtures>({
  url: async ({}, use) => use(process.env.RETHREAD_URL ?? ''),
  user: async ({}, use) => use(`user-${randomUUID().slice(0, 8)}`),
  api: async ({ url, user }, use) => use(new Api(url, user)),
  faults: [
    async ({ context }, use) => {
      const faults = new Faults();
      faults.watch(context);
      await use(faults);
      for (const page of context.pages()) {
        if (page.url().startsWith('http')) await expectAccessible(page);
      }
      expect(faults.list, 'errors in the browser').toEqual([]);
    },
    { auto: true },
  ],
  console: async ({ page, url, user }, use) => use(new Console(page, url, user)),
  openTab: async ({ context, page, url, user }, use) =>
    use(async (session) => {
      const tab = new Console(await context.newPage(), url, user);
      await tab.openSession(session);
      await page.bringToFront();
      return tab;
    }),
});

export { expect };
