// What asking a question takes and returns.

import type { InputEvent, Rewound, Thread } from '../api/types';

/** What a question replaces: an invocation, and everything after it. */
export interface Instead {
  of: string;
  /** Takes it away, before the question is sent; without, the server discards it. */
  rewind?: () => Promise<Rewound>;
}

/** Starts the run of an input. */
export type Start = (input: InputEvent[], agent: string) => Promise<Thread>;

/** A run that has begun. */
export interface Begun {
  run: string;
  /** The position of its question. */
  seq: number;
}

export interface AskOptions {
  /** What the question replaces. */
  instead?: Instead | undefined;
  /** Makes the event that is sent in place of the last one, which is shown meanwhile. */
  complete?: (() => Promise<InputEvent>) | undefined;
  /** Starts the run, which is then never queued. */
  start?: Start;
}
