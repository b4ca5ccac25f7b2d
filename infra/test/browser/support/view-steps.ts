// Views of the console, one after another: how each is opened, and what of the page belongs to it.

import { expect, type Locator, type Page } from '@playwright/test';
import { expectFocusSeen, expectWhole } from './view-checks.ts';

export interface View {
  name: string;
  /** Its address in the console; without, it is opened from the view before. */
  path?: string;
  /** What has to be done before it can be opened. */
  before?: (page: Page) => Promise<void>;
  /** The control that opens it, by the keyboard; it has the focus again after Escape. */
  opener?: (page: Page) => Locator;
  /** The key for that; Enter by default. */
  key?: string;
  /** The item that is chosen from the menu which opens. */
  item?: string;
  /** Whether it stays open, for the views that follow. */
  stays?: boolean;
  part: (page: Page) => Locator;
}

/**
 * Opens a view, checks it, and closes it.
 * @param known whether what axe has checked on another screen is not checked again
 */
export async function visit(page: Page, base: string, view: View, known: boolean): Promise<void> {
  const { name, path, opener, key = 'Enter', item, stays = false } = view;
  if (path !== undefined) await page.goto(`${base}/console${path}`);
  await view.before?.(page);
  if (opener) {
    await opener(page).press(key);
    if (item) await page.getByRole('menuitem', { name: item, exact: true }).press('Enter');
  }
  const part = view.part(page);
  await expectWhole(page, part, name, known);
  if (!opener) return;
  await expectFocusSeen(page, name);
  if (stays) return;
  await page.keyboard.press('Escape');
  await expect(part, `${name}: closed`).toBeHidden();
  await expect.soft(opener(page), `${name}: the focus returns`).toBeFocused();
}
