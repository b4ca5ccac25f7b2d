// A session's status, and the position in the log up to which it is known.

import type { RunError, SessionStatus } from '../types.js';
import type { WatchedSession } from './message.js';
import type { Parsed } from './parsed.js';

export class Status {
  #status: SessionStatus | ''; // '' only before the first thread
  #runId: string;
  #error: RunError | null;
  #seq: number;

  constructor(status: SessionStatus | '' = '', runId = '', error: RunError | null = null, seq = 0) {
    this.#status = status;
    this.#runId = runId;
    this.#error = error;
    this.#seq = seq;
  }

  /** Takes the status of a message unless a newer one is known. Returns whether it changed. */
  take(status: SessionStatus, { run_id: run, error, cursor }: Parsed): boolean {
    if (cursor.seq < this.#seq) return false;
    const runId = status === 'idle' ? '' : (run ?? ''); // the message names the run that ended
    const changed = status !== this.#status || runId !== this.#runId || cursor.seq > this.#seq;
    this.#status = status;
    this.#runId = runId;
    this.#error = status === 'failed' ? (error ?? null) : null;
    this.#seq = cursor.seq;
    return changed;
  }

  render(): Pick<WatchedSession, 'status' | 'run_id' | 'error' | 'status_seq'> {
    return {
      status: this.#status as SessionStatus,
      run_id: this.#runId,
      error: this.#error,
      status_seq: this.#seq,
    };
  }
}
