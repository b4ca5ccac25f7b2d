// The views around a chat: lists, the side panel, the search, and those without an open chat.

import type { Page } from '@playwright/test';
import type { Full } from './full-data.ts';
import type { View } from './view-steps.ts';
import { dialog } from './views-chat.ts';

const main = (page: Page) => page.getByRole('main');
const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });

export const listViews = (full: Full, width: number): View[] => [
  { name: 'new chat', path: '/', part: main },
  ...sidebarViews(width < 832),
  { name: 'palette', path: '/', opener: field, key: 'Control+k', stays: true, part: dialog },
  {
    name: 'palette with results',
    before: (page) => page.getByRole('combobox').fill('a'),
    part: dialog,
  },
  {
    name: 'keys',
    before: (page) => page.keyboard.press('Escape'),
    opener: (page) => page.getByRole('button', { name: '/help' }),
    key: '?',
    part: dialog,
  },
  ...panelViews(full, width < 1008),
  { name: 'a chat to read', path: `/s/${full.read}`, part: (page) => page.getByTestId('chat') },
  { name: 'invitation', path: `/join#${full.token}`, part: main },
  { name: 'incomplete link', path: '/join#', part: main },
  {
    name: 'link that has ended',
    path: `/join#${full.token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))}`,
    before: async (page) => {
      await page.reload(); // an address that differs in its fragment alone loads nothing
      await page.getByRole('button', { name: 'Accept and open' }).click();
      await page.getByRole('heading', { name: /does not work any more/ }).waitFor();
    },
    part: main,
  },
  {
    name: 'missing chat',
    path: '/s/none',
    before: (page) => page.getByRole('heading', { name: 'does not exist' }).waitFor(),
    part: main,
  },
  { name: 'search without words', path: '/search', part: main },
  {
    name: 'results of a search',
    before: async (page) => {
      await page.getByRole('searchbox', { name: 'Words that were said' }).fill('costs');
      await page.getByTestId('search-result').first().waitFor();
    },
    part: main,
  },
];

// Views that come last, because the browser has no connection afterwards.
export const lastViews = ({ chat }: Full): View[] => [
  {
    name: 'a chat without a connection',
    path: `/s/${chat}`,
    before: async (page) => {
      await page.getByText('In Graça').waitFor();
      await page.context().setOffline(true);
      await page.locator('.banner').waitFor();
    },
    part: (page) => page.locator('.main'),
  },
];

const sidebar = (page: Page) => page.locator('.sidebar');

const sidebarViews = (narrow: boolean): View[] => [
  {
    name: 'chats',
    ...(narrow && {
      opener: (page: Page) => page.getByRole('button', { name: 'Chats', exact: true }),
    }),
    stays: true,
    part: sidebar,
  },
  {
    name: 'menu of a chat in the list',
    opener: (page) =>
      sidebar(page)
        .getByRole('button', { name: /^Options for/ })
        .first(),
    part: (page) => page.getByRole('menu'),
  },
  {
    name: 'shared chats',
    before: (page) => page.getByRole('button', { name: 'Shared with me' }).click(),
    part: sidebar,
  },
  {
    name: 'chats that a search finds',
    before: async (page) => {
      await page.getByRole('button', { name: 'Mine' }).click();
      await page.getByRole('searchbox', { name: 'Search chats' }).fill('bread');
      await page.getByRole('link', { name: 'Search in messages' }).waitFor();
    },
    part: sidebar,
  },
];

const tab = (name: string) => (page: Page) => page.getByRole('tab', { name }).click();
const panel = (page: Page) => page.locator('.panel');

const wideTree: View = {
  name: 'wide tree',
  opener: (page) => page.getByRole('button', { name: 'Wide view' }),
  part: (page) => page.locator('.tree-wide'),
};

const panelViews = ({ chat }: Full, covers: boolean): View[] => [
  {
    name: 'state',
    path: `/s/${chat}`,
    opener: (page) => page.getByRole('button', { name: 'Side panel' }),
    stays: true,
    part: panel,
  },
  {
    name: 'state at a point',
    before: (page) => page.getByRole('button', { name: 'Previous change' }).click(),
    part: panel,
  },
  { name: 'artifacts', before: tab('Artifacts'), part: panel },
  {
    name: 'an artifact',
    before: (page) =>
      page
        .getByRole('button', { name: /map\.svg/ })
        .last()
        .click(),
    part: panel,
  },
  {
    name: 'a picture, enlarged',
    opener: (page) => panel(page).getByRole('button', { name: 'map.svg' }),
    part: (page) => page.locator('.enlarged'),
  },
  {
    name: 'deletion of an artifact',
    opener: (page) => panel(page).getByRole('button', { name: 'Delete' }),
    part: (page) => page.getByRole('dialog', { name: 'Delete artifact?' }),
  },
  { name: 'tree', before: tab('Tree'), part: panel },
  ...(covers ? [] : [wideTree]), // where the panel has the whole screen, the tree is as wide
  { name: 'outline', before: tab('Outline'), part: panel },
];
