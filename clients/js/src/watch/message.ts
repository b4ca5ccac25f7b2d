// Messages of the server about a session, and the session as a watcher sees it.

import type { components } from '../schema.js';
import type { Event, OnFailed, RunError, SessionStatus } from '../types.js';

/** The members of an event that watching needs. */
export interface WatchedItem {
  id: string;
  seq: number;
  invocation_id: string;
  author: string;
  status: string;
  [more: string]: unknown;
}

export interface ItemContent {
  role?: string;
  parts: object[];
}

export interface ItemDelta {
  part: number;
  text?: string;
  thought?: boolean;
  function_call?: { id?: string; name?: string; args_text?: string };
}

/** An input that waits until the runs before it have ended, for a run of its own. */
export type QueuedInput = components['schemas']['QueuedInput'];

/** A message about a session; infra/asyncapi.yaml describes its members. */
export interface WatchMessage {
  type: string;
  cursor?: string;
  prev?: string;
  item?: WatchedItem;
  item_id?: string;
  delta?: ItemDelta;
  until?: number;
  to_seq?: number;
  status?: SessionStatus | '';
  run_id?: string;
  error?: RunError | null;
  on_failed?: OnFailed;
  reason?: string;
  queued?: QueuedInput[];
  queue_version?: number;
  /** Whether the inputs of `queued` were left out. */
  truncated?: boolean;
}

/** A page of a thread, and for one that is only the end, the cursor to the items before. */
export interface ThreadData {
  items: WatchedItem[];
  offsets?: Record<string, number>;
  status: SessionStatus;
  run?: { id: string; error?: RunError | null; on_failed?: OnFailed } | null;
  cursor: string;
  queued?: QueuedInput[];
  queue_version?: number;
}

/** A session at one moment. */
export interface WatchedSession<Item = Event> {
  /** Effective events, oldest first; an unchanged one is the same object as before. */
  items: Item[];
  status: SessionStatus;
  /** Id of the run in progress or the failed run; otherwise ''. */
  run_id: string;
  /** Why the last run failed; otherwise null. */
  error: RunError | null;
  /** Whether the next input leaves the failed run in the session, instead of discarding it. */
  kept: boolean;
  /** Position in the log up to which the status is known; items after it may have arrived already. */
  status_seq: number;
  /** Inputs that wait, in order; the same array as before if it is unchanged. */
  queued: QueuedInput[];
  /** Grows with each change of `queued`; 0 in a session that never had any. */
  queue_version: number;
  /** Number of rewinds. */
  epoch: number;
  deleted: boolean;
  /** Whether there are earlier items, which `older` loads. */
  has_older: boolean;
}
