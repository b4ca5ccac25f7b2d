// Takes the pictures of the documents.

import { defineConfig } from '@playwright/test';
import config from './playwright.config.ts';

process.env.CONSOLE_PRICES = '{"gpt-5": {"input": 1.25, "output": 10}}'; // for the system's start

export default defineConfig({ ...config, testDir: 'pictures' });
