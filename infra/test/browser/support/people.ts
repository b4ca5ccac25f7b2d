// Several people at once, each in a browser of their own.

import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { Api } from './api.ts';
import { Console } from './console.ts';
import type { Faults } from './faults.ts';
import { test as base } from './test.ts';

export interface Person {
  user: string;
  console: Console;
  api: Api;
}

interface People {
  /** Lets another person in, in a browser of their own with the console open in no tab yet. */
  another: (name: string, options?: BrowserContextOptions) => Promise<Person>;
}

export const test = base.extend<People>({
  another: async ({ browser, url, faults }, use) => {
    const closing: (() => Promise<void>)[] = [];
    await use(async (name, options = {}) => {
      const user = `${name}-${randomUUID().slice(0, 8)}`;
      const { console, close } = await arrive(browser, faults, url, user, options);
      closing.push(close);
      return { user, console, api: new Api(url, user) };
    });
    for (const close of closing) await close();
  },
});

async function arrive(
  browser: Browser,
  faults: Faults,
  url: string,
  user: string,
  options: BrowserContextOptions,
) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  context.setDefaultTimeout(60_000);
  faults.watch(context);
  const page = await context.newPage();
  const close = async () => {
    for (const one of context.pages()) {
      if (one.url().startsWith(url)) await expectAccessible(one);
    }
    await context.close();
  };
  return { console: new Console(page, url, user), close };
}

export { expect } from './test.ts';
