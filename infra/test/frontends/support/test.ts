// The fixtures of every test: a page whose errors and requests are watched.

import { type BrowserContext, test as base, expect } from '@playwright/test';

interface Fixtures {
  /** Errors that the test provokes. */
  allowed: RegExp[];
}

export const test = base.extend<Fixtures>({
  allowed: [
    async ({ context }, use) => {
      const allowed = [/favicon\.ico/, NEW_THREAD];
      const seen = watch(context);
      await use(allowed);
      const faults = seen.faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault)));
      expect(faults, 'errors in the browser').toEqual([]);
      expect(seen.outside, 'requests to other machines').toEqual([]);
      expect(seen.requests, 'requests').toBeGreaterThan(5);
    },
    { auto: true },
  ],
});

/** Pages ask for a thread that has no message yet. */
const NEW_THREAD =
  /404 .*(\/sessions\/[^/]*|\/messages|\/connect)\)$|HTTP 404: .*Session not found/;

/** Collects errors of the pages, and requests that leave this machine. */
function watch(context: BrowserContext) {
  const seen = { faults: [] as string[], outside: [] as string[], requests: 0 };
  context.on('console', (message) => {
    const { url } = message.location();
    if (message.type() === 'error') seen.faults.push(`${message.text()} (${url})`);
  });
  context.on('weberror', (error) => seen.faults.push(`uncaught: ${error.error().stack}`));
  context.on('request', (request) => {
    seen.requests++;
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') seen.outside.push(request.url());
  });
  return seen;
}

export { expect };
