// Keeps the end of a growing thread in view unless the user has scrolled away from it.

import type { RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const NEAR = 60; // pixels from the end within which scrolling down follows it again
const END = 2; // pixels that fractions of one may leave at the end

export function useStick(
  scroller: RefObject<HTMLElement>,
  content: RefObject<HTMLElement>,
  sending: boolean,
) {
  const [stuck, setStuck] = useState(true);
  const sticks = useRef(true);
  const stick = useCallback(() => {
    sticks.current = true;
    setStuck(true);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [scroller]);

  /** Stops following the end, to show something else. */
  const release = useCallback(() => {
    sticks.current = false;
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !content.current) return;
    let { scrollTop: top, scrollHeight: height } = element;
    const rest = () => element.scrollHeight - element.scrollTop - element.clientHeight;
    const isFar = () => rest() > NEAR;
    // Content that shrinks moves the scroll position up by as much; everything else is the user, who
    // leaves the end with the first pixel.
    const onScroll = () => {
      const shrunk = Math.max(0, height - element.scrollHeight);
      if (element.scrollTop < top - shrunk - 0.5) sticks.current = rest() < END;
      else if (rest() < END || (element.scrollTop > top && !isFar())) sticks.current = true;
      ({ scrollTop: top, scrollHeight: height } = element);
      setStuck(sticks.current || !isFar());
    };
    const observer = new ResizeObserver(() => {
      if (sticks.current) element.scrollTop = element.scrollHeight;
      else if (!isFar()) setStuck(true); // content that shrinks need not scroll
    });
    observer.observe(element);
    observer.observe(content.current);
    // In a frame in which rows are measured, the sizes of inner elements are reported after that of the
    // content, which would otherwise be reported again only in the next frame.
    for (const inner of content.current.children) observer.observe(inner);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [scroller, content]);

  useEffect(() => {
    if (sending) stick(); // after sending, show the answer
  }, [sending, stick]);
  return { stuck, stick, release };
}
