// Puts the focus into the search field, in the drawer on narrow screens.

import type { View } from '../context';

export const SEARCH_FIELD = 'search-field';

export function focusSearch({ drawer }: View): void {
  if (focus()) return;
  drawer.value = true;
  let frames = FRAMES;
  const again = () => focus() || (--frames > 0 && requestAnimationFrame(again));
  requestAnimationFrame(again);
}

const FRAMES = 60; // to wait until the drawer is open

function focus(): boolean {
  const field = document.getElementById(SEARCH_FIELD);
  if (!(field instanceof HTMLInputElement)) return false;
  field.focus();
  field.select();
  return document.activeElement === field;
}
