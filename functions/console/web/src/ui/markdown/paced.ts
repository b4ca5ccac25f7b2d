// Limits how often a growing text is rendered, and shows it at the pace at which it arrives, also where
// it comes in lumps.

import { useEffect, useRef, useState } from 'preact/hooks';

// Milliseconds in which what has arrived is shown, at least and at most.
const SOON = 60;
const LATE = 800;

/**
 * The text to render: while it grows, it changes at most once per pace and once per frame.
 * @param pace returns how long to wait, in milliseconds
 */
export function usePaced(text: string, growing: boolean, pace: () => number): string {
  const [shown, setShown] = useState(text);
  const flow = useRef<Flow>();
  flow.current ??= new Flow(text, performance.now());
  const waiting = useRef<() => void>();
  flow.current.arrive(text, performance.now());
  useEffect(() => {
    if (!growing || waiting.current || shown === text) return;
    let frame = 0;
    const timer = setTimeout(() => {
      frame = requestAnimationFrame(() => {
        waiting.current = undefined;
        setShown(flow.current?.next(performance.now(), isStill()) ?? text);
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

const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A growing text, shown as fast as it arrives: a part in the time that the part before it took. */
export class Flow {
  #text: string;
  #shown: string;
  #arrived: number;
  #moved: number;
  #speed = 0; // characters a millisecond

  constructor(text: string, now: number) {
    this.#text = text;
    this.#shown = text;
    this.#arrived = now;
    this.#moved = now;
  }

  arrive(text: string, now: number): void {
    if (text === this.#text) return;
    if (this.#shown === this.#text) this.#moved = now;
    const took = Math.min(LATE, Math.max(SOON, now - this.#arrived));
    this.#text = text;
    this.#arrived = now;
    this.#speed = (text.length - this.#shown.length) / took;
  }

  /** What is shown by now. With `whole` that is everything, as is a text that does not continue. */
  next(now: number, whole = false): string {
    const step = Math.max(1, Math.round((now - this.#moved) * this.#speed));
    this.#moved = now;
    const goesOn = !whole && this.#text.startsWith(this.#shown);
    this.#shown = goesOn ? cut(this.#text, this.#shown.length + step) : this.#text;
    return this.#shown;
  }
}

// Never within a character of two units.
const cut = (text: string, end: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end + 1 : end);
