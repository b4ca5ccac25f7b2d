// Slows down how often a text that grows is drawn.

import { useEffect, useRef, useState } from 'preact/hooks';

/**
 * The text as it is to be drawn: while it grows, not more often than the pace allows, and never
 * more than once a frame.
 * @param pace says how long to wait, in milliseconds
 */
export function usePaced(text: string, growing: boolean, pace: () => number): string {
  const [shown, setShown] = useState(text);
  const newest = useRef(text);
  const waiting = useRef<() => void>();
  newest.current = text;
  useEffect(() => {
    if (!growing || waiting.current || shown === text) return;
    let frame = 0;
    const timer = setTimeout(() => {
      frame = requestAnimationFrame(() => {
        waiting.current = undefined;
        setShown(newest.current);
      });
    }, pace());
    waiting.current = () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  });
  useEffect(() => () => waiting.current?.(), []);
  return growing ? shown : text;
}
