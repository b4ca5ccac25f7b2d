// The chats whose names have the words that were typed: the user's own, and those of others.

import { GitFork, MessageSquare, Users } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Finder } from '../../store/finder';
import { useApp } from '../context';
import { useShow } from '../history/address';
import type { PaletteGroup } from './registry';

export function useChats(query: string): PaletteGroup {
  const { chat } = useApp();
  const show = useShow();
  const { found, failed } = useFinder(query, false);
  return {
    title: 'Chats',
    found: true,
    notice: failed.value,
    entries: found.value
      .filter(({ id }) => id !== chat.value?.id)
      .map(({ id, name, fork }) => ({
        id: `chat ${id}`,
        label: name || 'Untitled',
        icon: fork ? GitFork : MessageSquare,
        run: () => show(id),
      })),
  };
}

export function useSharedChats(query: string): PaletteGroup {
  const { chat } = useApp();
  const show = useShow();
  const { found, failed } = useFinder(query, true);
  return {
    title: 'Shared with me',
    found: true,
    notice: failed.value,
    entries: found.value
      .filter(({ id }) => id !== chat.value?.id)
      .map(({ id, name, user_id: owner }) => ({
        id: `shared ${id}`,
        label: name || 'Untitled',
        note: `from ${owner}`,
        icon: Users,
        run: () => show(id),
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
