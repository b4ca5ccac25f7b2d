// The views of a chat: its messages, menus and dialogs, and its rewound history.

import type { Locator, Page } from '@playwright/test';
import { ARABIC, LONG } from './full-content.ts';
import type { Full } from './full-data.ts';
import { message } from './rewinding.ts';
import { createLink, openDialog } from './sharing.ts';
import type { View } from './view-steps.ts';

export const dialog = (page: Page): Locator => page.getByRole('dialog').last();
const menu = (page: Page) => page.getByRole('menu');
const options = (page: Page) => page.getByRole('button', { name: 'Chat options' });
const chat = (page: Page) => page.getByTestId('chat');
const more = (text: string) => (page: Page) =>
  message(page, text).first().getByRole('button', { name: 'More' });

const QUESTION = 'What does it cost?';
const ANSWER = 'It costs:';

export const messageViews = ({ chat: id }: Full): View[] => [
  { name: 'chat', path: `/s/${id}`, part: chat },
  {
    name: 'a toast',
    path: `/s/${id}`,
    before: async (page) => {
      await page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
      });
      await message(page, 'In Graça').getByRole('button', { name: 'Copy' }).click();
    },
    part: (page) => page.getByTestId('toast'),
  },
  { name: 'the chat beside a toast', part: chat },
  { name: 'menu of a question', opener: more('And as a program?'), part: menu },
  { name: 'menu of an answer', opener: more(ANSWER), part: menu },
  {
    name: 'rewind to a question',
    opener: more('And as a program?'),
    item: 'Rewind to before this question',
    part: dialog,
  },
  {
    name: 'rewind to an answer',
    opener: more(ANSWER),
    item: 'Rewind to this answer',
    part: dialog,
  },
  {
    name: 'fork from a question',
    opener: more(QUESTION),
    item: 'Fork from before this question',
    part: dialog,
  },
  {
    name: 'fork from an answer',
    opener: more(ANSWER),
    item: 'Fork from this answer',
    part: dialog,
  },
  {
    name: 'editor of a question',
    opener: (page) => message(page, QUESTION).first().getByRole('button', { name: 'Edit' }),
    part: (page) => page.getByRole('textbox', { name: 'Edit the question' }),
  },
  { name: 'choice of the agent', opener: (page) => page.getByTestId('agent'), part: dialog },
];

export const chatViews = ({ chat: id, asking }: Full): View[] => [
  {
    name: 'header',
    path: `/s/${id}`,
    part: (page) => chat(page).locator('.bar'),
  },
  { name: 'menu of the chat', opener: options, part: menu },
  ...['Rename', 'Share', 'Chat settings', 'Delete'].map((item) => ({
    name: `dialog “${item}”`,
    opener: options,
    item,
    part: dialog,
  })),
  {
    name: 'a link to share',
    before: async (page) => {
      await createLink(await openDialog(page));
    },
    part: dialog,
  },
  {
    name: 'an answer in progress, with a queue',
    path: '/', // a chat of its own, in which nothing follows
    before: async (page) => {
      const field = page.getByRole('textbox', { name: 'Message' });
      await field.fill('/long 1000');
      await field.press('Enter');
      await page.getByRole('button', { name: 'Stop' }).waitFor();
      for (let n = 0; n < 3; n++) {
        await field.fill('And then? '.repeat(40));
        await page.getByRole('button', { name: 'Add to the queue' }).click();
        await page.getByRole('button', { name: 'Remove from the queue' }).nth(n).waitFor();
      }
    },
    part: chat,
  },
  {
    name: 'a failed answer',
    path: '/',
    before: async (page) => {
      await page.getByRole('textbox', { name: 'Message' }).fill('/fail');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Try again' }).waitFor();
    },
    part: chat,
  },
  {
    name: 'files that wait to be sent',
    path: '/',
    before: async (page) => {
      const buffer = Buffer.from('Tiles.');
      const file = (name: string) => ({ name, mimeType: 'text/plain', buffer });
      const files = ['notes.txt', `${LONG}.txt`, `${ARABIC}.txt`].map(file);
      await page.getByLabel('Files to attach').setInputFiles(files);
      await page.getByTestId('draft-file').nth(2).waitFor();
    },
    part: (page) => page.getByRole('main'),
  },
  {
    name: 'a comment on an answer',
    path: `/s/${id}`,
    before: async (page) => {
      await page.getByRole('button', { name: 'Bad answer' }).last().click();
      await page.getByRole('textbox', { name: 'Your comment' }).fill(`${LONG} ${ARABIC}`);
    },
    part: chat,
  },
  { name: 'questions of the agent', path: `/s/${asking}`, part: chat },
  ...historyViews(id),
];

const historyViews = (id: string): View[] => [
  {
    name: 'rewound history',
    path: `/s/${id}`,
    before: (page) => page.getByRole('button', { name: 'Show rewound history' }).click(),
    part: (page) => page.getByTestId('history'),
  },
  {
    name: 'undoing a rewind',
    opener: (page) => page.getByRole('button', { name: 'Undo this rewind' }).last(),
    part: dialog,
  },
];
