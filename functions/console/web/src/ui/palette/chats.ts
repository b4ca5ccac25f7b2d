// The chats whose names have the words that were typed.

import { GitFork, MessageSquare } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Finder } from '../../store/finder';
import { useApp } from '../context';
import { useShow } from '../history/address';
import type { PaletteGroup } from './registry';

export function useChats(query: string): PaletteGroup {
  const { api, chat } = useApp();
  const show = useShow();
  const [finder] = useState(() => new Finder(api));
  useEffect(() => () => finder.stop(), [finder]);
  useEffect(() => finder.find(query), [finder, query]);
  const { found, failed } = finder;
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
