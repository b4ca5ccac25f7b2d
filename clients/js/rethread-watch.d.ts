// Types of rethread-watch.js.

/** An event as returned by `GET /sessions/{id}/thread`; infra/openapi.yaml describes its members. */
export interface WatchedItem {
  id: string;
  seq: number;
  invocation_id: string;
  author: string;
  status: 'completed' | 'in_progress' | 'failed';
  [more: string]: unknown;
}

/** A session at one moment. */
export interface WatchedSession<Item = WatchedItem> {
  /** Effective events, oldest first; an unchanged one is the same object as before. */
  items: Item[];
  status: 'idle' | 'in_progress' | 'failed';
  /** Id of the run in progress or the failed run; otherwise ''. */
  run_id: string;
  /** Why the last run failed; otherwise null. */
  error: { code: string; message: string } | null;
  /** Position in the log up to which the status is known; items after it may have arrived already. */
  status_seq: number;
  /** Number of rewinds. */
  epoch: number;
  deleted: boolean;
  /** Whether there are earlier items, which `older` loads. */
  has_older: boolean;
}

/** The connection's state at one moment. */
export interface WatchConnection {
  /** `offline` after two failed attempts in a row, until the session is live again. */
  state: 'connecting' | 'live' | 'offline';
  /** Time of the next attempt in epoch milliseconds; null if none is scheduled. */
  retryAt: number | null;
}

/** An error with an HTTP status. */
export interface WatchError extends Error {
  status: number;
  /** Why access ended: the share was revoked, or it has expired. */
  reason?: 'revoked' | 'expired';
}

export interface WatchOptions<Item = WatchedItem> {
  /** The HTTP API's address with its version, such as https://api.example/api/v1. */
  httpUrl: string;
  /** The WebSocket API's address, such as wss://live.example/v1. */
  wsUrl: string;
  /** Returns a bearer token; called for each connection and each page of a thread, so it should cache. */
  token: () => Promise<string>;
  sessionId: string;
  /** Start with this many of the newest items; without it all are read. */
  tail?: number;
  onChange: (session: WatchedSession<Item>) => void;
  onConnection?: (connection: WatchConnection) => void;
  /**
   * Watching ended with a final error: 404 no such session, 403 no access, 410 deleted, 400 or 422
   * invalid request.
   */
  onEnd?: (error: WatchError) => void;
  /** Replacements of globals. */
  environment?: {
    WebSocket?: unknown;
    fetch?: typeof fetch;
    document?: Document;
    window?: Window;
  };
}

export interface Watching {
  close(): void;
  /**
   * Loads the items before those shown. Resolves when `onChange` has been called with them or there
   * are none; rejects if they could not be read, and can be called again.
   */
  older(): Promise<void>;
  /** Connects at once instead of at `retryAt`. */
  retry(): void;
}

/** Watches a session until `close` or `onEnd`. It retries all failures that are not final. */
export function watch<Item = WatchedItem>(options: WatchOptions<Item>): Watching;

/**
 * Returns the delay in milliseconds after a number of failures: `least` plus a random time of up to
 * 250 ms, doubling with each failure up to 30 s. `random` returns a number from 0 to below 1.
 */
export function backoff(failures: number, options?: { least?: number; random?: () => number }): number;
