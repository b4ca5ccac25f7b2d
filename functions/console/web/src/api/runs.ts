// Runs: start, read and cancel.

import type { RunRequest } from 'rethread';
import type { Api } from './client';
import type { InputEvent, Run, SentRequest, Thread } from './types';

export interface StartOptions {
  /** Identifies the start, so that it can be repeated. */
  key: string;
  /**
   * Whether the input is queued while another run is active or inputs are queued, or rejected with a
   * conflict (409).
   */
  active: 'reject' | 'enqueue';
  /** The agent; '' for the session's. */
  agent: string;
  /** The head of the log as known; if it has moved, that is a conflict (409). */
  expectedSeq?: number;
}

export function startRun(
  api: Api,
  session: string,
  input: InputEvent[],
  { key, active, agent, expectedSeq }: StartOptions,
): Promise<Thread> {
  const request = {
    input,
    on_active: active,
    mode: 'agent',
    on_failed: 'keep',
    ...(agent && { agent }),
    ...(expectedSeq !== undefined && { expected_seq: expectedSeq }),
  };
  return api.runs.start(session, request as RunRequest, { idempotencyKey: key });
}

/** Cancels a run, of which what was said stays; a finished one does not change. */
export function cancelRun(api: Api, session: string, run: string): Promise<Thread> {
  return api.runs.cancel(session, run, { onFailed: 'keep' });
}

export function readRun(api: Api, session: string, run: string): Promise<Run> {
  return api.runs.get(session, run);
}

/** What the agent of a run was sent, as far as the deployment keeps it. */
export function readRequests(api: Api, session: string, run: string): Promise<SentRequest[]> {
  return api.runs.requests(session, run).all();
}

/** The newest items of a thread, oldest first, with its session and queue. */
export async function readEnd(api: Api, session: string, limit: number): Promise<Thread> {
  const thread = await api.thread.get(session, { order: 'desc', limit });
  return { ...thread, items: thread.items.toReversed() };
}
