// Pictures of the console for the documents.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type Page } from '@playwright/test';

const FOLDER = fileURLToPath(new URL('../../../../docs/images/', import.meta.url));
const LARGEST = 150_000; // bytes

/** Writes a picture to a file of docs/images. */
export async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    // Clocks differ from run to run.
    for (const time of document.querySelectorAll('time')) time.style.visibility = 'hidden';
  });
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  expect(picture.length).toBeLessThan(LARGEST);
  await mkdir(dirname(FOLDER + name), { recursive: true });
  await writeFile(FOLDER + name, picture);
}
