// An entry of the palette, and a group of them.

import type { LucideIcon } from 'lucide-preact';
import type { KeyId } from '../keys/registry';

export interface PaletteEntry {
  /** Unique in the palette. */
  id: string;
  label: string;
  icon: LucideIcon;
  /** The key that does the same. */
  keys?: KeyId | undefined;
  /** What is said beside the label, such as whose it is. */
  note?: string;
  /** More words by which it is found. */
  words?: string;
  run: () => void;
}

export interface PaletteGroup {
  title: string;
  entries: readonly PaletteEntry[];
  /** Whether these are already the ones for what was typed. */
  found?: boolean;
  /** What the group tells instead of entries, such as a failure. */
  notice?: string;
}
