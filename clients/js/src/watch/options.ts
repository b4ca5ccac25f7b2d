// How a session is watched: options, what is reported, and what the environment provides.

import { ArgumentError, RethreadError } from '../http/errors.js';
import type { Tokens } from '../http/token.js';
import type { Event } from '../types.js';
import type { Socket } from './connection.js';
import type { WatchedSession } from './message.js';
import type { ReadPage } from './thread.js';

const FINAL = [400, 403, 404, 422]; // statuses with which a retry cannot succeed

/** The connection's state at one moment. */
export interface WatchConnection {
  /** `offline` after two failed attempts in a row, until the session is live again. */
  state: 'connecting' | 'live' | 'offline';
  /** Time of the next attempt in epoch milliseconds; null if none is scheduled. */
  retryAt: number | null;
}

/** Why watching has ended. */
export type WatchError = RethreadError & {
  /** Why access ended: the share was revoked, or it has expired. */
  reason?: 'revoked' | 'expired';
};

export interface WatchOptions<Item = Event> {
  /** Start with this many of the newest items; without it all are read. */
  tail?: number;
  /** Called with the session after each change. Unchanged items stay the same objects. */
  onChange: (session: WatchedSession<Item>) => void;
  /** Called with the connection's state after each change. */
  onConnection?: (connection: WatchConnection) => void;
  /**
   * Called when the share that gave access has ended, but another one still gives it. The caller's
   * right may have changed: `sessions.get` returns it as `access`.
   */
  onAccess?: () => void;
  /**
   * Called once when watching ends with a final error. Its status is 404 (no such session), 403 (no
   * access), 410 (deleted), 400 or 422 (invalid request), or 0 if an argument cannot be sent.
   */
  onEnd?: (error: WatchError) => void;
}

/** A session that is watched. */
export interface Watching {
  /** Ends watching; no connection, timer or listener remains. */
  close(): void;
  /**
   * Loads `count` items before those shown, by default as many as `tail`. Resolves when `onChange` has
   * been called with them or there are none; rejects if they could not be read, and can be called
   * again. A call during another one resolves with it.
   */
  older(count?: number): Promise<void>;
  /** Connects at once instead of at `retryAt`. */
  retry(): void;
}

/** Globals of a browser: its WebSocket, and the events of a page that is visible or online again. */
export interface Environment {
  WebSocket?: new (url: URL) => Socket;
  document?: Pick<Document, 'addEventListener' | 'removeEventListener' | 'visibilityState'>;
  window?: Pick<Window, 'addEventListener' | 'removeEventListener'>;
}

/** The parts of the client that watching uses. */
export interface Access {
  sessionId: string;
  /** Returns the address of the WebSocket API. */
  socketUrl: (signal: AbortSignal) => string | Promise<string>;
  tokens: Tokens;
  /** The user that a service acts for. */
  user?: string | undefined;
  read: (query: Parameters<ReadPage>[0], signal: AbortSignal) => ReturnType<ReadPage>;
  environment: Environment & Required<Pick<Environment, 'WebSocket'>>;
  random: () => number;
  /** Called when watching has ended or was closed. */
  closed: () => void;
}

/** Whether an error ends watching. */
export function isFinal(error: unknown): error is RethreadError {
  return (
    error instanceof ArgumentError ||
    (error instanceof RethreadError && FINAL.includes(error.status))
  );
}
