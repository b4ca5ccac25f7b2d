// Takes the pictures of the documents.

import { defineConfig } from '@playwright/test';
import config from './playwright.config.ts';

export default defineConfig({ ...config, testDir: 'pictures' });
