// The key Home goes to the first message of a thread, however many are still to be loaded and measured.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const STILL = 10; // frames without a change after which it has arrived
const EDITABLE = 'input, textarea, select';

interface Options {
  release: () => void;
  /** Whether there are earlier messages to load. */
  more: () => boolean;
  /** Loads them, unless that is under way, where a scroll to the first message may not. */
  load?: () => void;
}

export function useHome(scroller: RefObject<HTMLElement>, { release, more, load }: Options): void {
  const ahead = useRef({ more, load });
  ahead.current = { more, load };
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let frame = 0;
    const stop = () => cancelAnimationFrame(frame);
    // Rows that are measured above what is shown move it down
    const go = (still: number) => {
      const top = element.scrollTop === 0;
      const missing = ahead.current.more();
      if (top && missing) ahead.current.load?.();
      const here = top && !missing;
      element.scrollTop = 0;
      if (!here || still > 0) frame = requestAnimationFrame(() => go(here ? still - 1 : STILL));
    };
    const onKey = (event: KeyboardEvent) => {
      stop(); // any other key is for something else
      const { key, shiftKey, altKey, metaKey, defaultPrevented } = event;
      if (key !== 'Home' || shiftKey || altKey || metaKey || defaultPrevented) return;
      if ((event.target as Element).closest(EDITABLE)) return;
      event.preventDefault();
      release();
      go(STILL);
    };
    element.addEventListener('keydown', onKey);
    element.addEventListener('wheel', stop, { passive: true });
    element.addEventListener('pointerdown', stop);
    return () => {
      stop();
      element.removeEventListener('keydown', onKey);
      element.removeEventListener('wheel', stop);
      element.removeEventListener('pointerdown', stop);
    };
  }, [scroller, release]);
}
