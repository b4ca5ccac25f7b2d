// What every component can reach.

import { type Signal, signal } from '@preact/signals';
import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { App } from '../store/app';

/** State of the page itself, apart from what it shows. */
export interface View {
  /** The dialog that is open. */
  dialog: Signal<VNode | null>;
  /** Whether the list of sessions is open, where it is a drawer. */
  drawer: Signal<boolean>;
  /** The tab of the side panel that is open; '' while the panel is closed. */
  panel: Signal<string>;
  /** The event after which the state panel shows the state; '' for now. */
  moment: Signal<string>;
  /** The artifact that the artifact panel shows, and which version; null for the list. */
  artifact: Signal<{ name: string; version: number } | null>;
}

export const createView = (): View => ({
  dialog: signal<VNode | null>(null),
  drawer: signal(false),
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
