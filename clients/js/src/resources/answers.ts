// Answers of runs, streamed while the session is watched.

import { RethreadError } from '../http/errors.js';
import type { Event, Run } from '../types.js';
import type { WatchedSession } from '../watch/message.js';
import type { Watching, WatchOptions } from '../watch/options.js';

/** The answer to a question. */
export interface Answer {
  /** What the agent said, without its thoughts. */
  text: string;
  /** The run, which is over; it may have failed. */
  run: Run;
}

/** The parts of a client that streaming uses. */
export interface Watcher {
  watch(sessionId: string, options: WatchOptions<Event>): Watching;
  onClose(end: () => void): () => void;
}

/**
 * Yields what the agent of a run says until the run is over, as `isOver` says while the session
 * shows that it neither works nor waits.
 */
export async function* streamed(
  watcher: Watcher,
  sessionId: string,
  runId: string,
  isOver: () => Promise<boolean>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const changes = new Changes(signal);
  const release = watcher.onClose(() =>
    changes.fail(new RethreadError(0, { problem: { detail: 'The client was closed.' } })),
  );
  const watching = watcher.watch(sessionId, {
    onChange: (session) => changes.put(session),
    onEnd: (error) => changes.fail(error),
  });
  try {
    let shown = '';
    for (;;) {
      const session = await changes.next();
      const before = shown;
      shown = saidBy(session.items, runId);
      if (shown.length > before.length && shown.startsWith(before)) {
        yield shown.slice(before.length);
      }
      if (!isBusy(session, runId) && (await isOver())) return;
    }
  } finally {
    watching.close();
    release();
    changes.close();
  }
}

/** The newest form of a session, for one reader. */
class Changes {
  #newest: WatchedSession | undefined;
  #failed = false;
  #failure: unknown;
  #wake: () => void = () => {};
  readonly #signal: AbortSignal | undefined;
  readonly #aborted = () => this.fail(this.#signal?.reason);

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#aborted);
    if (signal?.aborted) this.#aborted();
  }

  put(session: WatchedSession): void {
    this.#newest = session;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failed = true;
    this.#failure = error;
    this.#wake();
  }

  async next(): Promise<WatchedSession> {
    while (!this.#newest) {
      if (this.#failed) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const session = this.#newest;
    this.#newest = undefined;
    return session;
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#aborted);
  }
}

function isBusy(session: WatchedSession, runId: string): boolean {
  const works = session.status === 'in_progress' && session.run_id === runId;
  return works || session.queued.some((waiting) => waiting.run_id === runId);
}

function saidBy(items: Event[], runId: string): string {
  let text = '';
  for (const { invocation_id: invocation, content } of items) {
    if (invocation !== runId || content?.role === 'user') continue;
    for (const part of content?.parts ?? []) if (!part.thought) text += part.text ?? '';
  }
  return text;
}
