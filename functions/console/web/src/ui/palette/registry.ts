// What the palette offers. A feature adds a source here: a hook that returns a group of entries for
// what the user has typed.

import type { LucideIcon } from 'lucide-preact';
import type { ListedSession } from '../../api/types';
import type { Chat } from '../../store/chat';
import type { KeyId } from '../keys/registry';
import { useAppActions } from './app';
import { useChatActions } from './chat';
import { useChats, useSharedChats } from './chats';
import { useMessageSearch } from './messages';

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

export type PaletteSource = (query: string) => PaletteGroup;

/** A source for the open chat. */
export type ChatSource = (chat: Chat, session: ListedSession) => PaletteGroup;

export const chatSources: readonly ChatSource[] = [useChatActions];
export const sources: readonly PaletteSource[] = [
  useChats,
  useSharedChats,
  useAppActions,
  useMessageSearch,
];
