// The views for developers: the turns of a chat, and two branches beside each other.

import type { Page } from '@playwright/test';
import type { Full } from './full-data.ts';
import type { View } from './view-steps.ts';
import { dialog } from './views-chat.ts';

const main = (page: Page) => page.getByRole('main');
const open = (page: Page) => page.locator('.turn[open]');

export const developerViews = ({ chat }: Full): View[] => [
  {
    name: 'turns',
    path: `/s/${chat}/turns`,
    before: (page) => page.getByTestId('turn').first().waitFor(),
    part: main,
  },
  {
    name: 'an open turn',
    before: async (page) => {
      await page.getByTestId('turn').filter({ hasText: 'What does it cost?' }).click();
      await open(page).getByTestId('event').first().waitFor(); // all are shown at once
      for (const event of await open(page).getByTestId('event').all()) {
        await event.locator('summary').click();
      }
    },
    part: main,
  },
  {
    name: 'asking again',
    opener: (page) => open(page).getByRole('button', { name: 'Ask again from here' }),
    part: dialog,
  },
  {
    name: 'turns in the side panel',
    path: `/s/${chat}`,
    before: async (page) => {
      await page.getByRole('button', { name: 'Side panel' }).click();
      await page.getByRole('tab', { name: 'Turns' }).click();
      await page.getByTestId('turn').filter({ hasText: 'What does it cost?' }).click();
    },
    part: (page) => page.locator('.panel'),
  },
  {
    name: 'compared branches',
    before: async (page) => {
      await page.getByRole('tab', { name: 'Tree' }).click();
      await page.getByRole('link', { name: 'Compare branches' }).click();
      await page.getByTestId('pair').first().waitFor();
    },
    part: main,
  },
];
