// Tests of the console in the system's Chromium, against their own local system.

import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'tests',
  outputDir: 'results/tests',
  globalSetup: './support/setup.ts',
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // `make ci` repeats what fails once: others may slow its machine.
  retries: Number(process.env.BROWSER_RETRIES ?? 0),
  // Long, since a busy machine is not a fault
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: [['list'], ['./support/flaky.ts']],
  use: {
    browserName: 'chromium',
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' },
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    contextOptions: { reducedMotion: 'reduce' }, // avoids checks during animations
    actionTimeout: 60_000,
    screenshot: 'only-on-failure',
    trace: process.env.TRACE ? 'retain-on-failure' : 'off', // a trace costs a sixth of the tests' time
  },
});
