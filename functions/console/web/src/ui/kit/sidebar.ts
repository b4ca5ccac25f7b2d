// Whether the list of chats is shown beside the chat. The browser keeps it.

import { effect, type Signal, signal } from '@preact/signals';
import { isNarrow } from './hooks';

const STORAGE_KEY = 'rethread.sidebar';
const FOLDED = 'folded';

/** The part of the page's state that says whether the list is shown. */
interface Sidebar {
  drawer: Signal<boolean>;
  folded: Signal<boolean>;
}

export function sidebarFolded(root = document.documentElement): Signal<boolean> {
  const folded = signal(localStorage.getItem(STORAGE_KEY) === FOLDED);
  effect(() => {
    if (folded.value) localStorage.setItem(STORAGE_KEY, FOLDED);
    else localStorage.removeItem(STORAGE_KEY);
    if (folded.value) root.dataset.sidebar = FOLDED;
    else delete root.dataset.sidebar;
  });
  return folded;
}

/** Shows or hides the list, on narrow screens in the drawer. */
export function toggleSidebar({ drawer, folded }: Sidebar): void {
  const shown = isNarrow() ? drawer : folded;
  shown.value = !shown.value;
}

/** Shows the list. */
export function showSidebar({ drawer, folded }: Sidebar): void {
  if (isNarrow()) drawer.value = true;
  else folded.value = false;
}
