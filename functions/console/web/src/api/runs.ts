// Runs: start and cancel.

import type { RunRequest } from 'rethread';
import type { Api } from './client';
import type { InputEvent, Thread } from './types';

/**
 * Starts a run of the session's agent, or of another one. While another run is active, or inputs are queued, it is
 * queued behind them, or rejected with a conflict (409).
 */
export function startRun(
  api: Api,
  session: string,
  input: InputEvent[],
  key: string,
  active: 'reject' | 'enqueue' = 'enqueue',
  agent = '',
): Promise<Thread> {
  const named = agent ? { agent } : {};
  const request = { input, on_active: active, mode: 'agent', on_failed: 'discard', ...named };
  return api.runs.start(session, request as RunRequest, { idempotencyKey: key });
}

/** Cancels a run; a finished one does not change. */
export function cancelRun(api: Api, session: string, run: string): Promise<Thread> {
  return api.runs.cancel(session, run);
}
