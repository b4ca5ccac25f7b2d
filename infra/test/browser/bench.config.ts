// Measurements of the console, one at a time.

import { defineConfig } from '@playwright/test';
import config from './playwright.config.ts';

export default defineConfig({
  ...config,
  testDir: 'bench',
  testMatch: '*.ts',
  workers: 1,
});
