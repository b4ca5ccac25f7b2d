// Limits how often a growing text is rendered.

import { useEffect, useRef, useState } from 'preact/hooks';

/**
 * The text to render: while it grows, it changes at most once per pace and once per frame.
 * @param pace returns how long to wait, in milliseconds
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
