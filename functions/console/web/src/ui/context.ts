// The context of all components.

import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { App } from '../store/app';
import type { ListKind } from '../store/sessions';
import { mediaSignal } from './kit/hooks';
import { sidebarFolded } from './kit/sidebar';

/** State of the page itself, independent of its content. */
export interface View {
  /** The open dialog. */
  dialog: Signal<VNode | null>;
  /** Whether the list of sessions is open, on narrow screens. */
  drawer: Signal<boolean>;
  /** Whether the list of sessions is hidden, on wide screens. */
  folded: Signal<boolean>;
  /** Whether the screen is touched, so that nothing is hovered over. */
  touch: ReadonlySignal<boolean>;
  /** Which list of sessions is shown. */
  list: Signal<ListKind>;
  /** The open tab of the side panel; '' while the panel is closed. */
  panel: Signal<string>;
  /** The event after which the state panel shows the state; '' for the current state. */
  moment: Signal<string>;
  /** The artifact version shown in the artifact panel; null for the list. */
  artifact: Signal<{ name: string; version: number } | null>;
}

export const createView = (): View => ({
  dialog: signal<VNode | null>(null),
  drawer: signal(false),
  folded: sidebarFolded(),
  touch: mediaSignal('(hover: none)'),
  list: signal<ListKind>('mine'),
  panel: signal(''),
  moment: signal(''),
  artifact: signal(null),
});

export const Context = createContext<{ app: App; view: View } | null>(null);

function useConsole() {
  const context = useContext(Context);
  if (!context) throw new Error('a component stands outside of the console');
  return context;
}

export const useApp = (): App => useConsole().app;
export const useView = (): View => useConsole().view;
