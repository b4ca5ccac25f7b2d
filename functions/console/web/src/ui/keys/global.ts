// The keys that act wherever the focus is, except in dialogs and menus.

import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { App } from '../../store/app';
import { useApp, useView, type View } from '../context';
import { toggleSidebar } from '../kit/sidebar';
import { openPalette } from '../palette/open';
import { focusSearch } from '../sidebar/focus';
import { openKeys } from './open';
import { bindings, type KeyId, pressed } from './registry';

interface Page {
  view: View;
  navigate: (path: string) => void;
}

type Act = (page: Page) => void;

// What a key does, given where the focus is; null if it has no meaning now.
const actions: Partial<Record<KeyId, (app: App, target: Element | null) => Act | null>> = {
  palette: () => (page) => openPalette(page.view),
  help: () => (page) => openKeys(page.view),
  new: () => (page) => page.navigate('/'),
  sidebar: () => (page) => toggleSidebar(page.view),
  search: () => (page) => focusSearch(page.view),
  stop: (app, target) => {
    const chat = app.chat.peek();
    if (!chat?.running.peek() || !chat.rights.peek().write || !isOfChat(target)) return null;
    return () => void chat.cancel();
  },
};

/** Listens for the keys while the component is shown. */
export function useGlobalKeys(): void {
  const app = useApp();
  const view = useView();
  const [, navigate] = useLocation();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || isCovered()) return;
      const target = event.target instanceof Element ? event.target : null;
      const act = actionOf(event, app, target);
      if (!act) return;
      event.preventDefault();
      act({ view, navigate });
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [app, view, navigate]);
}

function actionOf(event: KeyboardEvent, app: App, target: Element | null): Act | null {
  const binding = bindings.find(({ id }) => id in actions && pressed(event, id));
  if (!binding) return null;
  if (binding.character && (!app.keys.characters.peek() || types(target))) return null;
  return actions[binding.id]?.(app, target) ?? null;
}

// Whether a dialog or a menu has the keys; toasts have none.
function isCovered(): boolean {
  return document.querySelector('dialog:modal, :popover-open:not(.toasts)') !== null;
}

// Whether keys type in an element, or choose from it by their characters.
function types(element: Element | null): boolean {
  return element?.closest('input, textarea, select, [contenteditable], [role=tree]') != null;
}

// The message field, or the conversation outside of its fields.
function isOfChat(element: Element | null): boolean {
  if (!element || element === document.body || element.closest('.composer')) return true;
  return element.closest('.thread') !== null && !types(element);
}
