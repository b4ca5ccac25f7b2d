// Front ends of other stacks in the system's Chromium, against a local system of their own.

import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'tests',
  outputDir: 'results/tests',
  globalSetup: './support/setup.ts',
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // `make ci` repeats what fails once, and lists it as flaky: others may slow its machine.
  retries: Number(process.env.BROWSER_RETRIES ?? 0),
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    },
    viewport: { width: 1000, height: 700 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    actionTimeout: 30_000,
    screenshot: 'only-on-failure',
  },
});
