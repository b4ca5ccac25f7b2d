// Where elements stand on the page.

import type { Locator } from '@playwright/test';

/** The element's place, in pixels; fails if the element is not shown. */
export async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (!box) throw new Error(`${element} is not shown`);
  return box;
}
