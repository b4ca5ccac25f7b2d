// Types of rethread-watch.js.

/** An event as `GET /sessions/{id}/thread` shows it; infra/openapi.yaml says what is in there. */
export interface WatchedItem {
  id: string;
  seq: number;
  invocation_id: string;
  author: string;
  status: 'completed' | 'in_progress' | 'failed';
  [more: string]: unknown;
}

/** A session as it shows at one moment. */
export interface WatchedSession<Item = WatchedItem> {
  /** Effective events, oldest first; one that has not changed is the same object as before. */
  items: Item[];
  status: 'idle' | 'in_progress' | 'failed';
  /** Of the run in progress, or that failed; else ''. */
  run_id: string;
  /** Why the last run failed. */
  error: { code: string; message: string } | null;
  /** How many rewinds there were. */
  epoch: number;
  deleted: boolean;
  /** Whether there are items before these, which `older` brings. */
  has_older: boolean;
}

/** How the connection is at one moment. */
export interface WatchConnection {
  /** `offline` once two tries in a row have failed, until all is well again. */
  state: 'connecting' | 'live' | 'offline';
  /** When the next try is due, in epoch milliseconds; null where none is. */
  retryAt: number | null;
}

/** An error with the HTTP status that it came with, or stands for. */
export interface WatchError extends Error {
  status: number;
  /** Why one who could watch cannot any more: the share was taken back, or its time is up. */
  reason?: 'revoked' | 'expired';
}

export interface WatchOptions<Item = WatchedItem> {
  /** Of the HTTP API, with its version. */
  httpUrl: string;
  /** Of the WebSocket API. */
  wsUrl: string;
  /** A token that is valid for a while yet; asked for each connection and each thread. */
  token: () => Promise<string>;
  sessionId: string;
  /** To begin with the newest items only, so many; without it all are read. */
  tail?: number;
  onChange: (session: WatchedSession<Item>) => void;
  onConnection?: (connection: WatchConnection) => void;
  /** Watching ended by itself: 404 not there, 403 not the caller's to watch, 410 deleted. */
  onEnd?: (error: WatchError) => void;
  /** Globals to use instead of the environment's own. */
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
   * Brings the items before those that are shown. Resolves when `onChange` was told, or there are
   * none; rejects where they could not be read, and can be called again.
   */
  older(): Promise<void>;
  /** Connects at once instead of at `retryAt`. */
  retry(): void;
}

/** Watches a session until `close`, or until `onEnd` says that nothing more can come. */
export function watch<Item = WatchedItem>(options: WatchOptions<Item>): Watching;

/**
 * How long to wait after so many failures, in milliseconds: a random part of up to 30 s, and at least
 * as long as was asked for. `random` is from 0 to below 1.
 */
export function backoff(failures: number, options?: { least?: number; random?: () => number }): number;
