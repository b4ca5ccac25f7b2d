// The views of the settings.

import type { Page } from '@playwright/test';
import { LONG } from './full-content.ts';
import type { Full } from './full-data.ts';
import type { View } from './view-steps.ts';
import { dialog } from './views-chat.ts';

const main = (page: Page) => page.getByRole('main');
const button = (name: string) => (page: Page) => main(page).getByRole('button', { name });

export const settingsViews = ({ webhook, delivery, automation }: Full): View[] => [
  { name: 'appearance', path: '/settings/appearance', part: main },
  { name: 'webhooks', path: '/settings/webhooks', part: main },
  { name: 'new webhook', path: '/settings/webhooks/new', part: main },
  { name: 'webhook', path: `/settings/webhooks/${webhook}`, part: main },
  { name: 'deletion of a webhook', opener: button('Delete'), part: dialog },
  {
    name: 'secret of a webhook',
    before: (page) => button('Show the secret')(page).click(),
    part: main,
  },
  { name: 'replacement of the secret', opener: button('Replace…'), part: dialog },
  { name: 'edited webhook', path: `/settings/webhooks/${webhook}/edit`, part: main },
  { name: 'delivery', path: `/settings/webhooks/${webhook}/deliveries/${delivery}`, part: main },
  { name: 'automations', path: '/settings/automations', part: main },
  { name: 'new automation', path: '/settings/automations/new', part: main },
  { name: 'automation', path: `/settings/automations/${automation}`, part: main },
  { name: 'deletion of an automation', opener: button('Delete'), part: dialog },
  { name: 'edited automation', path: `/settings/automations/${automation}/edit`, part: main },
  { name: 'feedback', path: '/settings/feedback', part: main },
  { name: 'usage', path: '/settings/usage', part: main },
  { name: 'data', path: '/settings/data', part: main },
  {
    name: 'imports that failed',
    before: async (page) => {
      const buffer = Buffer.from('not {json');
      const file = (name: string) => ({ name, mimeType: 'application/json', buffer });
      const files = [file('notes.json'), file(`${LONG}.json`)];
      await page.getByLabel('Files to import').setInputFiles(files);
      await page.getByRole('alert').nth(1).waitFor();
    },
    part: main,
  },
  { name: 'deletion of everything', opener: button('Delete everything…'), part: dialog },
];
