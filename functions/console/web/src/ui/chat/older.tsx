// Reads what stands before, as one scrolls up to it.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import type { Older } from '../../store/older';

const AHEAD = 1000; // pixels from the oldest message at which those before it are read

/**
 * @param stuck whether the end is held in sight: then only what does not fill the screen asks for
 *   more
 * @returns what has to stand before the oldest message
 */
export function useOlder(
  chat: Chat,
  scroller: RefObject<HTMLElement>,
  stuck: boolean,
): RefObject<HTMLDivElement> {
  const edge = useRef<HTMLDivElement>(null);
  const { more, loading, failed } = chat.older;
  const ready = more.value && !loading.value && failed.value === '';
  const oldest = chat.items.value[0]?.id;
  // An observer tells how it is when it begins, so each page that came gets one of its own.
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

/** What is to be seen above the oldest message while others are on their way. */
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
      Reading earlier messages…
    </p>
  );
}
