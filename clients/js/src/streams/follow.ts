// Reads a stream to its end, over as many connections as that takes.

import { ConnectionError, RethreadError } from '../http/errors.js';
import type { Page, Streams } from '../http/streams.js';
import { jitter } from '../http/wait.js';
import { readEvents } from './events.js';

const MAX_FAILURES = 20; // in a row, without anything new: about a minute

/** The events of a connection. */
export type Opened<E> = Response | Iterable<E>;

/** A stream that can be read again from its beginning. */
export interface Source<E> {
  /** Opens a connection; null if there is nothing to read. `again` is set after the first one. */
  open(again: boolean, signal: AbortSignal): Promise<Opened<E> | null>;
  /** Called before the events of each connection. */
  connect(): void;
  /** Returns what is new with an event; null if the connection ends here although the stream goes on. */
  take(event: E): E[] | null;
  /** Whether an event ends the stream. */
  isLast(event: E): boolean;
}

/**
 * Yields the events of a stream, each once, until its last one. A lost connection is replaced after a
 * random, growing delay, or at once when the page becomes visible or the network returns.
 */
export async function* follow<E>(
  streams: Streams,
  source: Source<E>,
  signal: AbortSignal,
): AsyncGenerator<E> {
  let opened = await source.open(false, signal);
  if (!opened) return;
  for (let failures = 0; ; ) {
    try {
      opened ??= await source.open(true, signal);
      if (!opened) return;
      source.connect();
      for await (const event of opened instanceof Response
        ? readEvents<E>(opened, signal)
        : opened) {
        const all = source.take(event);
        if (!all) break;
        for (const fresh of all) {
          failures = 0;
          yield fresh;
        }
        if (source.isLast(event)) return;
      }
      throw new ConnectionError(new Error('the stream ended before its run'));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (++failures > MAX_FAILURES || !isTemporary(error)) throw error;
      opened = null;
      const after = error instanceof RethreadError ? (error.retryAfter ?? 0) : 0;
      await pause(Math.max(after, jitter(failures - 1, streams.random)), streams.page, signal);
    }
  }
}

/** Whether another attempt may succeed. Other errors are those of the token's source. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof RethreadError)) return true;
  return error.status === 0 || error.status === 429 || error.status >= 500;
}

/** Waits, at most until the page becomes visible or the network returns. */
function pause(
  milliseconds: number,
  { document, window }: Page,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = () => {
      clearTimeout(timer);
      document?.removeEventListener('visibilitychange', wake);
      window?.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const wake = () => document?.visibilityState !== 'hidden' && end();
    const timer = setTimeout(end, milliseconds);
    document?.addEventListener('visibilitychange', wake);
    window?.addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
