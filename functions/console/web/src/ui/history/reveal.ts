// Scrolls once to the message named by the address.

import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { VirtualizerHandle } from 'virtua';
import { useAddress, useShow } from './address';

const TRIES = 60; // frames to wait for it to appear in the document

interface Where {
  list: RefObject<VirtualizerHandle>;
  scroller: RefObject<HTMLElement>;
  /** Stops holding the list's position. */
  release: () => void;
}

/**
 * @param find returns the index of an invocation's row, -1 while it is not loaded, null if it does not exist
 */
export function useReveal(
  session: string,
  { list, scroller, release }: Where,
  find: (invocation: string) => number | null,
): void {
  const { history, at } = useAddress();
  const show = useShow();
  const index = at ? find(at) : -1;
  useEffect(() => {
    if (!at || index === -1) return;
    if (index === null) {
      show(session, { history }, true);
      return;
    }
    let frame = 0;
    const look = (tries: number) => {
      release();
      list.current?.scrollToIndex(index, { align: 'center' });
      const element = scroller.current?.querySelector<HTMLElement>(
        `[data-invocation="${CSS.escape(at)}"]`,
      );
      // Rows not measured yet are in the document, but hidden
      if (element?.checkVisibility({ visibilityProperty: true }) && tries < TRIES - 1) {
        flash(element);
        show(session, { history }, true); // so that asking for the same message again has an effect
      } else if (tries > 0) {
        frame = requestAnimationFrame(() => look(tries - 1));
      }
    };
    frame = requestAnimationFrame(() => look(TRIES));
    return () => cancelAnimationFrame(frame);
  }, [at, index]);
}

function flash(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  const color = getComputedStyle(element).getPropertyValue('--accent-soft');
  element.animate([{ backgroundColor: color }, {}], { duration: 1600, easing: 'ease-out' });
}
