// Puts the focus into the search field, and shows the list if it is hidden.

import type { View } from '../context';
import { showSidebar } from '../kit/sidebar';

export const SEARCH_FIELD = 'search-field';

export function focusSearch(view: View): void {
  if (focus()) return;
  showSidebar(view);
  let frames = FRAMES;
  const again = () => focus() || (--frames > 0 && requestAnimationFrame(again));
  requestAnimationFrame(again);
}

const FRAMES = 60; // to wait until the list is shown

function focus(): boolean {
  const field = document.getElementById(SEARCH_FIELD);
  if (!(field instanceof HTMLInputElement)) return false;
  field.focus();
  field.select();
  return document.activeElement === field;
}
