// The types for asking a question.

import type { InputEvent, Rewound, Thread } from '../api/types';

/** A replaced part of the conversation: an invocation and everything after it. */
export interface Instead {
  of: string;
  /** Takes it away, before the question is sent. */
  rewind: () => Promise<Rewound>;
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
  /** The part of the conversation that the question replaces. */
  instead?: Instead | undefined;
  /** Makes the last event to send. Until it is ready, the last event of the input is shown. */
  complete?: (() => Promise<InputEvent>) | undefined;
  /** Starts the run, which is then never queued. */
  start?: Start;
}
