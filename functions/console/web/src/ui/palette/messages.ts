// The search of what was said.

import { TextSearch } from 'lucide-preact';
import { useLocation } from 'wouter-preact';
import { searchPath } from '../search/address';
import type { PaletteGroup } from './entry';

export function useMessageSearch(query: string): PaletteGroup {
  const [, navigate] = useLocation();
  const words = query.trim();
  const label = words ? `Search in messages: ${words}` : 'Search in messages';
  const run = () => navigate(searchPath(words));
  return {
    title: 'Messages',
    found: true,
    entries: [{ id: 'search messages', label, icon: TextSearch, run }],
  };
}
