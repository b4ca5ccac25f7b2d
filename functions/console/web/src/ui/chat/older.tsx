// Loads earlier messages when the user scrolls up to them.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import type { Older } from '../../store/older';

const AHEAD = 1000; // pixels from the oldest message at which earlier ones are loaded

interface State {
  /** Whether the view stays at the end; then more is loaded only to fill the screen. */
  stuck: boolean;
  /** Whether some of the loaded messages are not rendered yet. */
  partly: boolean;
}

/** Returns the ref of an element that must precede the oldest message. */
export function useOlder(
  chat: Chat,
  scroller: RefObject<HTMLElement>,
  { stuck, partly }: State,
): RefObject<HTMLDivElement> {
  const edge = useRef<HTMLDivElement>(null);
  const { more, loading, failed } = chat.older;
  const ready = !partly && more.value && !loading.value && failed.value === '';
  const oldest = chat.oldest.value;
  // An observer reports the state when it starts, so each loaded page gets a new one.
  useEffect(() => {
    const root = scroller.current;
    if (!ready || !root || !edge.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const short = root.scrollHeight <= root.clientHeight + AHEAD;
        if (entries.at(-1)?.isIntersecting && (!stuck || short)) void chat.older.load();
      },
      { root, rootMargin: `${AHEAD}px 0px 0px` },
    );
    observer.observe(edge.current);
    return () => observer.disconnect();
  }, [chat, scroller, stuck, ready, oldest]);
  return edge;
}

/** Shown above the oldest message while earlier ones are loaded. */
export function OlderLine({ older }: { older: Older }) {
  if (older.failed.value) {
    return (
      <p class="older-line" role="alert">
        {older.failed.value}
        <button type="button" class="button small" onClick={() => void older.load()}>
          Try again
        </button>
      </p>
    );
  }
  if (!older.loading.value) return null;
  return (
    <p class="older-line" role="status">
      Loading earlier messages…
    </p>
  );
}
