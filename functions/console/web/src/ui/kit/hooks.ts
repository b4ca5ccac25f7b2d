// Small hooks shared by several components.

import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

const NARROW = '(max-width: 52rem)';

/** Whether the screen is too narrow for two columns. */
export const useNarrow = (): boolean => useMedia(NARROW);

/** The same at this moment. */
export const isNarrow = (): boolean => matchMedia(NARROW).matches;

/** Whether the screen is too narrow for a side panel beside the chat. */
export const useCramped = (): boolean => useMedia('(max-width: 63rem)');

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const update = () => setMatches(media.matches);
    update();
    media.addEventListener('change', update);
    return () => media.removeEventListener('change', update);
  }, [query]);
  return matches;
}

/** Whether the screen is as a query says. */
export function mediaSignal(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener('change', () => {
    matches.value = media.matches;
  });
  return matches;
}

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Rethread` : 'Rethread';
  }, [title]);
}
