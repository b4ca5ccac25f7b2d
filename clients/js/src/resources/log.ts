// A session's log, and the thread, which is what it shows.

import type { List } from '../http/list.js';
import type { Call, CallOptions, Transport, WriteOptions } from '../http/transport.js';
import type { AppendRequest, Event, Query, StartedThread, Thread, ThreadPage } from '../types.js';
import { readThreadPage } from '../watch/page.js';
import { Invocation } from './invocation.js';
import { Resource } from './resource.js';

export class Events extends Resource {
  /** A session's events, by default those it shows, oldest first. */
  list(sessionId: string, query?: Query<'listEvents'>, options?: CallOptions): List<Event> {
    return this.entries('/sessions/{}/events', [sessionId], query, options);
  }

  /**
   * Appends 1 to 100 events, all or none. A repeat is recognised by the events' ids if all have one,
   * otherwise by an idempotency key, which costs more. `invocation` makes ids that cost the least.
   */
  append(sessionId: string, request: AppendRequest, options?: WriteOptions): Promise<Event[]> {
    const path = '/sessions/{}/events';
    const named = request.events.every(({ id }) => id) && options?.idempotencyKey === undefined;
    const repeat = named ? 'safe' : 'key';
    return this.data({ method: 'POST', path, params: [sessionId], json: request, repeat }, options);
  }

  /** The writer of an invocation, by default a new one; see `Invocation`. */
  invocation(sessionId: string, id?: string): Invocation {
    return new Invocation((request, options) => this.append(sessionId, request, options), id);
  }
}

export class Threads extends Resource {
  /** A page of a session's thread, by default the oldest items. */
  get(sessionId: string, query?: Query<'getThread'>, options?: CallOptions): Promise<ThreadPage> {
    return readThreadPage(
      this.transport,
      { method: 'GET', path: '/sessions/{}/thread', params: [sessionId], query, repeat: 'safe' },
      options,
    );
  }
}

/** Makes a call that starts a run. */
export async function readStarted(
  transport: Transport,
  call: Call,
  options?: WriteOptions,
): Promise<StartedThread> {
  type Answer = { data: Thread; meta?: { next_cursor: string | null }; run_id?: string };
  const { data, meta, run_id } = await transport.call<Answer>(call, (r) => r.json(), options);
  // An older server names no run.
  return { ...data, next_cursor: meta?.next_cursor ?? null, run_id: run_id ?? data.run?.id ?? '' };
}
