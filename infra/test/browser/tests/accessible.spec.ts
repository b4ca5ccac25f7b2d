// What axe has checked in its place is not checked again, and all else is.

import { expect, type Page, test } from '@playwright/test';
import { newViolations } from '../support/accessible.ts';
import { structureOf } from '../support/structure.ts';

const LIST =
  '<main><h1>Chats</h1><ul id="list-1"><li><button class="row">One</button></li></ul></main>';
const HIDDEN = LIST.replace('</main>', '<p hidden>Shown?</p></main>');

async function structure(page: Page, body: string): Promise<number[]> {
  await page.setContent(`<!doctype html><title>Chats</title><body>${body}</body>`);
  return page.locator('html').evaluate(structureOf);
}

const SAME = {
  'a longer list': LIST.replace('</ul>', '<li><button class="row">Two</button></li></ul>'),
  'another text': LIST.replace('One', 'Another'),
  'another address': LIST.replace('list-1', 'list-7'),
};

const OTHER = {
  'a button without a text': LIST.replace('One', ''),
  'another class': LIST.replace('row', 'row chosen'),
  'another state': LIST.replace('class="row"', 'class="row" aria-pressed="true"'),
  'another place': LIST.replace('<ul', '<nav><ul').replace('</ul>', '</ul></nav>'),
  'a missing heading': LIST.replace('<h1>Chats</h1>', ''),
  'another level': LIST.replaceAll('h1>', 'h3>'),
  'something that was hidden': HIDDEN.replace(' hidden', ''),
};

test('what is made of something else is new', async ({ page }) => {
  const known = new Set(await structure(page, HIDDEN));
  for (const [what, body] of Object.entries(OTHER)) {
    const parts = await structure(page, body);
    expect
      .soft(
        parts.filter((part) => !known.has(part)),
        what,
      )
      .not.toEqual([]);
  }
});

test('what is made of the same is not', async ({ page }) => {
  const known = new Set(await structure(page, LIST));
  for (const [what, body] of Object.entries(SAME)) {
    const parts = await structure(page, body);
    expect
      .soft(
        parts.filter((part) => !known.has(part)),
        what,
      )
      .toEqual([]);
  }
});

test('a fault is found in what is new, and again until it is mended', async ({ page }) => {
  await structure(page, LIST);
  expect(await newViolations(page.locator('main'))).toEqual([]);
  await structure(page, OTHER['a button without a text']);
  const named = expect.stringContaining('button-name');
  expect(await newViolations(page.locator('main'))).toEqual([named]);
  expect(await newViolations(page.locator('main'))).toEqual([named]);
});

test('contrasts are checked in the colours of the system', async ({ page }) => {
  const grey = '<main><h1 class="shade">Grey</h1></main>';
  const style = '<style>@media (prefers-color-scheme: dark) { .shade { color: #eee } }</style>';
  await structure(page, style + grey);
  expect(await newViolations(page.locator('main'))).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  const low = expect.stringContaining('color-contrast');
  expect(await newViolations(page.locator('main'))).toEqual([low]);
});
