// Inputs that are shown before the server has sent them.

import { uuid } from '../http/wait.js';
import type { Event, InputEvent, ThreadPage } from '../types.js';
import type { QueuedInput, WatchedSession } from '../watch/message.js';

/** An event, or one that is being sent. */
export type ThreadItem = Event & {
  /** The server has not sent the event yet. */
  pending?: boolean;
};

/** The response to an input: where it is in the log. */
interface Accepted {
  run: string;
  seq: number;
  epoch: number;
}

/** One input, from the call of `send` until the watch shows it. */
export class Pending {
  readonly events: (InputEvent & { id: string })[];
  /** Whether it is shown in the queue instead of the conversation. */
  readonly waits: boolean;
  /** The failed run that the server will discard. */
  readonly discards: string;
  readonly #time: number;
  accepted: Accepted | null = null;

  constructor(events: InputEvent[], waits: boolean, discards: string, now: number) {
    this.events = events.map((event) => ({ ...event, id: event.id ?? uuid() }));
    this.waits = waits;
    this.discards = discards;
    this.#time = now;
  }

  /** Takes the response of the server. Returns false if the input has to wait in the queue. */
  accept({ session, items, run }: ThreadPage, queued: QueuedInput[]): boolean {
    if (this.#in(queued)) return false;
    const id = this.events.at(-1)?.id;
    const seq = items.find((item) => item.id === id)?.seq ?? session.head_seq;
    this.accepted = { run: session.active_run_id ?? run?.id ?? '', seq, epoch: session.epoch };
    return true;
  }

  /** Whether the watch shows the input, or knows that it was rewound. */
  settled({ items, queued, epoch }: WatchedSession): boolean {
    if (this.#in(queued)) return true;
    if (!this.accepted) return false;
    return (items.at(-1)?.seq ?? 0) >= this.accepted.seq || epoch > this.accepted.epoch;
  }

  /** The input as events of a session, after its newest one. */
  items(sessionId: string, seq: number): ThreadItem[] {
    return this.events.map((event, i) => ({
      ...event,
      author: event.author ?? 'user',
      content: event.content,
      actions: {},
      seq: seq + 1 + i,
      session_id: sessionId,
      invocation_id: this.accepted?.run ?? '',
      status: 'completed',
      created_time: this.#time,
      pending: true,
    }));
  }

  /** The input as one that waits. */
  get queued(): QueuedInput {
    return { run_id: '', agent: '', input: this.events, queued_time: this.#time };
  }

  #in(queued: QueuedInput[]): boolean {
    return queued.some(({ input }) => input?.some(({ id }) => id === this.events.at(-1)?.id));
  }
}
