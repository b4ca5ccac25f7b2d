// Appends the events of one invocation, with ids that make a repeat safe and cheap.

import type { WriteOptions } from '../http/transport.js';
import { uuid } from '../http/wait.js';
import type { AppendRequest, Event, EventRequest } from '../types.js';

/** An event of an invocation, which gives it its ids. */
export type InvocationEvent = Omit<EventRequest, 'id' | 'invocation_id'> & {
  id?: never;
  invocation_id?: never;
};

type Append = (request: AppendRequest, options?: WriteOptions) => Promise<Event[]>;

/**
 * The writer of one invocation. It gives events the ids `<invocation id>.1`, `<invocation id>.2` …, by
 * which the server recognises events that are sent again: nothing is stored twice, also if the program
 * starts again and appends the same events from the beginning. Of all appends that are safe to repeat
 * these cost the least. Appends at the same time are sent one after another.
 */
export class Invocation {
  /** For rewinds and forks. */
  readonly id: string;
  readonly #append: Append;
  #next = 1; // number of the next event
  #last: Promise<unknown> = Promise.resolve(); // the append before

  /** @internal Use `client.events.invocation`. */
  constructor(append: Append, id: string = uuid()) {
    this.id = id;
    this.#append = append;
  }

  /**
   * Appends 1 to 100 events, all or none. After an error, append the same events again: their numbers
   * stay the same. Other events are refused with a ConflictError if the first ones were stored.
   */
  append(events: InvocationEvent[], options?: WriteOptions): Promise<Event[]> {
    const appended = this.#last.then(() => this.#send(events, options));
    this.#last = appended.catch(() => {});
    return appended;
  }

  async #send(events: InvocationEvent[], options?: WriteOptions): Promise<Event[]> {
    const numbered = events.map((event, i) => {
      if ('id' in event || 'invocation_id' in event) {
        throw new TypeError(`event ${i} has an id or an invocation_id of its own`);
      }
      return { ...event, id: `${this.id}.${this.#next + i}`, invocation_id: this.id };
    });
    const stored = await this.#append({ events: numbered as EventRequest[] }, options);
    this.#next += events.length;
    return stored;
  }
}
