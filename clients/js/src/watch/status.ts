// A session's status, and the position in the log up to which it is known.

import type { RunError, SessionStatus } from '../types.js';
import type { ThreadData, WatchedSession } from './message.js';
import type { Parsed } from './parsed.js';

type Ended = NonNullable<ThreadData['run']>;

export class Status {
  #status: SessionStatus | ''; // '' only before the first thread
  #runId: string;
  #error: RunError | null = null;
  #kept = false;
  #seq: number;

  constructor(status: SessionStatus | '' = '', run: Ended | null = null, seq = 0) {
    this.#status = status;
    this.#runId = run?.id ?? '';
    this.#fail(run);
    this.#seq = seq;
  }

  /** Takes the status of a message unless a newer one is known. Returns whether it changed. */
  take(status: SessionStatus, message: Parsed): boolean {
    const { run_id: run, cursor } = message;
    if (cursor.seq < this.#seq) return false;
    const runId = status === 'idle' ? '' : (run ?? ''); // the message names the run that ended
    const changed = status !== this.#status || runId !== this.#runId || cursor.seq > this.#seq;
    this.#status = status;
    this.#runId = runId;
    this.#fail(message);
    this.#seq = cursor.seq;
    return changed;
  }

  #fail(run: Pick<Ended, 'error' | 'on_failed'> | null): void {
    const failed = this.#status === 'failed' ? run : null;
    this.#error = failed?.error ?? null;
    this.#kept = failed?.on_failed === 'keep';
  }

  render(): Pick<WatchedSession, 'status' | 'run_id' | 'error' | 'kept' | 'status_seq'> {
    return {
      status: this.#status as SessionStatus,
      run_id: this.#runId,
      error: this.#error,
      kept: this.#kept,
      status_seq: this.#seq,
    };
  }
}
