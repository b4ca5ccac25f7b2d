// Runs: executions of agents on an input.

import type { CallOptions, WriteOptions } from '../http/transport.js';
import type {
  DeltaPush,
  Event,
  OnFailed,
  Run,
  RunChange,
  RunEvents,
  RunRequest,
  ThreadPage,
} from '../types.js';
import { readThread } from './log.js';
import { Resource } from './resource.js';

const RUN = '/sessions/{}/runs/{}';

export class Runs extends Resource {
  /** Appends an input and starts the run that answers it. Returns the thread with the input. */
  start(sessionId: string, request: RunRequest, options?: WriteOptions): Promise<ThreadPage> {
    const path = '/sessions/{}/runs';
    return readThread(
      this.transport,
      { method: 'POST', path, params: [sessionId], json: request, repeat: 'key' },
      options,
    );
  }

  get(sessionId: string, runId: string, options?: CallOptions): Promise<Run> {
    return this.data(
      { method: 'GET', path: RUN, params: [sessionId, runId], repeat: 'safe' },
      options,
    );
  }

  /** Keeps an external run alive, or ends it. */
  update(sessionId: string, runId: string, change: RunChange, options?: CallOptions): Promise<Run> {
    return this.data(
      { method: 'PATCH', path: RUN, params: [sessionId, runId], json: change, repeat: 'safe' },
      options,
    );
  }

  /**
   * Cancels a run; one that has ended does not change. `onFailed` is what becomes of it, by default what its
   * start said.
   */
  cancel(
    sessionId: string,
    runId: string,
    { onFailed, ...options }: CallOptions & { onFailed?: OnFailed } = {},
  ): Promise<ThreadPage> {
    const params = [sessionId, runId];
    const json = onFailed && { on_failed: onFailed };
    return readThread(
      this.transport,
      { method: 'POST', path: `${RUN}/cancel`, params, json, repeat: 'safe' },
      options,
    );
  }

  /** Adds deltas to an item of an external run. */
  pushDeltas(
    sessionId: string,
    runId: string,
    push: DeltaPush,
    options?: WriteOptions,
  ): Promise<{ item_id: string; seq: number; offset: number }> {
    const params = [sessionId, runId];
    return this.data(
      { method: 'POST', path: `${RUN}/deltas`, params, json: push, repeat: 'key' },
      options,
    );
  }

  /** Appends completed events of an external run. */
  pushEvents(
    sessionId: string,
    runId: string,
    events: RunEvents,
    options?: WriteOptions,
  ): Promise<Event[]> {
    const params = [sessionId, runId];
    return this.data(
      { method: 'POST', path: `${RUN}/events`, params, json: events, repeat: 'key' },
      options,
    );
  }
}
