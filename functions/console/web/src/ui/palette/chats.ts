// The chats whose names have the words that were typed: the user's own, and those of others.

import { GitFork, MessageSquare, Users } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import type { ListedSession } from '../../api/types';
import { Finder } from '../../store/finder';
import { useApp } from '../context';
import { useShow } from '../history/address';
import type { PaletteEntry, PaletteGroup } from './entry';

export function useChats(query: string): PaletteGroup {
  return useGroup(query, 'Chats', false, ({ fork }) => ({ icon: fork ? GitFork : MessageSquare }));
}

export function useSharedChats(query: string): PaletteGroup {
  return useGroup(query, 'Shared with me', true, ({ user_id: owner }) => ({
    icon: Users,
    note: `from ${owner}`,
  }));
}

type Look = Pick<PaletteEntry, 'icon' | 'note'>;

function useGroup(
  query: string,
  title: string,
  shared: boolean,
  look: (session: ListedSession) => Look,
): PaletteGroup {
  const { chat } = useApp();
  const show = useShow();
  const { found, failed } = useFinder(query, shared);
  return {
    title,
    found: true,
    notice: failed.value,
    entries: found.value
      .filter(({ id }) => id !== chat.value?.id)
      .map((session) => ({
        id: `${shared ? 'shared' : 'chat'} ${session.id}`,
        label: session.name || 'Untitled',
        run: () => show(session.id),
        ...look(session),
      })),
  };
}

function useFinder(query: string, shared: boolean): Finder {
  const { api } = useApp();
  const [finder] = useState(() => new Finder(api, shared));
  useEffect(() => () => finder.stop(), [finder]);
  useEffect(() => finder.find(query), [finder, query]);
  return finder;
}
