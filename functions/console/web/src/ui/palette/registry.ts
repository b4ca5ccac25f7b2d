// What the palette offers. A feature adds a source here: a hook that returns a group of entries for
// what the user has typed.

import type { ListedSession } from '../../api/types';
import type { Chat } from '../../store/chat';
import { useAppActions } from './app';
import { useChatActions } from './chat';
import { useChats, useSharedChats } from './chats';
import type { PaletteGroup } from './entry';
import { useMessageSearch } from './messages';

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
