// Every view of the console with much in it, on screens of three widths, in both colours: accessible,
// inside of the screen, readable, uncovered, and with the focus in its place.

import { type Full, fullUser } from '../support/full-data.ts';
import { test as base } from '../support/test.ts';
import { expectWhole } from '../support/view-checks.ts';
import { visit } from '../support/view-steps.ts';
import { chatViews, messageViews } from '../support/views-chat.ts';
import { developerViews } from '../support/views-developer.ts';
import { lastViews, listViews } from '../support/views-lists.ts';
import { settingsViews } from '../support/views-settings.ts';

// Narrow, where the list is a drawer; where the panel covers the chat; and wide. The second is made of
// what the others are made of.
const SCREENS = [
  { width: 375, colorScheme: 'dark', known: false },
  { width: 900, colorScheme: 'dark', known: true },
  { width: 1440, colorScheme: 'light', known: false },
] as const;
const AREAS = {
  messages: messageViews,
  chat: chatViews,
  lists: (full: Full, width: number) => [...listViews(full, width), ...lastViews(full)],
  settings: settingsViews,
  developer: developerViews,
};

const test = base.extend<object, { full: Full }>({
  // One for all tests of a worker, since it takes some seconds
  full: [
    async ({}, use) => use(await fullUser(process.env.RETHREAD_URL ?? '')),
    { scope: 'worker', timeout: 300_000 },
  ],
});

for (const { width, colorScheme, known } of SCREENS) {
  test.describe(`${width} pixels wide, ${colorScheme}`, () => {
    test.use({ colorScheme, viewport: { width, height: 800 } });
    test.use({ user: async ({ full }, use) => use(full.user) });

    for (const [area, views] of Object.entries(AREAS)) {
      test(`${area}: every view`, async ({ console, page, url, full, faults }) => {
        faults.allow(/status of 404/, /ERR_INTERNET_DISCONNECTED/, /WebSocket/);
        await console.open();
        await expectWhole(page, page.getByRole('main'), 'sign-in', known);
        await console.signIn('/settings/appearance');
        for (const view of views(full, width)) {
          await test.step(view.name, () => visit(page, url, view, known));
        }
      });
    }
  });
}
