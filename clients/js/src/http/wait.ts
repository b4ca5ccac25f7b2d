// Waiting, with a bound and a signal.

import { TimeoutError } from './errors.js';

const FIRST_DELAY = 250; // milliseconds
const LONGEST_DELAY = 8_000; // milliseconds

/** Returns the delay before an attempt: a random part of a bound that doubles (full jitter). */
export function jitter(failures: number, random: () => number): number {
  return random() * Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** failures);
}

/** Waits; rejects with the signal's reason if it is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/**
 * Calls a function with a signal that is aborted together with `signal`, or with a TimeoutError when
 * the time is over. No timer remains afterwards, and no listener unless `keep` lets `signal` abort
 * what the function has returned.
 */
export async function within<T>(
  milliseconds: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
  keep = false,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => controller.abort(new TimeoutError(milliseconds)), milliseconds);
  try {
    const result = await Promise.race([ended, run(controller.signal)]);
    if (!keep) signal?.removeEventListener('abort', abort);
    return result;
  } catch (error) {
    signal?.removeEventListener('abort', abort);
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for a promise until a signal is aborted; rejects with its reason then. */
export async function until<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason);
  });
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** Returns a random UUID. crypto.randomUUID does not exist on pages without https. */
export function uuid(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
