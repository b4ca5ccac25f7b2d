// Runs: executions of agents on an input.

import type { List } from '../http/list.js';
import type { CallOptions, Transport, WriteOptions } from '../http/transport.js';
import type {
  DeltaPush,
  Event,
  OnFailed,
  Query,
  Run,
  RunChange,
  RunEvents,
  RunRequest,
  SentRequest,
  StartedThread,
  ThreadPage,
} from '../types.js';
import { readThreadPage } from '../watch/page.js';
import { type Answer, streamed, type Watcher } from './answers.js';
import { readStarted } from './log.js';
import { Resource } from './resource.js';

const RUNS = '/sessions/{}/runs';
const RUN = '/sessions/{}/runs/{}';

/** How a question is asked: other members of the start, and who reads the answer as it comes. */
export interface AskOptions extends WriteOptions {
  request?: Omit<RunRequest, 'input'>;
  onText?: (piece: string) => void;
}

export class Runs extends Resource {
  readonly #watcher: Watcher;

  constructor(transport: Transport, watcher: Watcher) {
    super(transport);
    this.#watcher = watcher;
  }

  /**
   * Appends an input, events or a text, and starts the run that answers it. Returns the thread with
   * the input, and the `run_id`.
   */
  start(sessionId: string, request: RunRequest, options?: WriteOptions): Promise<StartedThread> {
    return readStarted(
      this.transport,
      { method: 'POST', path: RUNS, params: [sessionId], json: request, repeat: 'key' },
      options,
    );
  }

  /** The active run and those that are over, newest first. */
  list(sessionId: string, query?: Query<'listRuns'>, options?: CallOptions): List<Run> {
    return this.entries(RUNS, [sessionId], query, options);
  }

  /**
   * What the agent of a run was sent, where the deployment keeps it, for the owner of the session and
   * admins.
   */
  requests(
    sessionId: string,
    runId: string,
    query?: Query<'listRunRequests'>,
    options?: CallOptions,
  ): List<SentRequest> {
    return this.entries(`${RUN}/requests`, [sessionId, runId], query, options);
  }

  /**
   * Yields what the agent of a run says, piece by piece and without its thoughts, until the run is
   * over; the first piece is what it has said so far. It watches the session.
   */
  stream(
    sessionId: string,
    runId: string,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<string, void, undefined> {
    const isOver = async () => (await this.get(sessionId, runId)).ended_time !== null;
    return streamed(this.#watcher, sessionId, runId, isOver, signal);
  }

  /** Waits until a run is over and returns it; it may have failed. It watches the session. */
  async wait(sessionId: string, runId: string, options?: { signal?: AbortSignal }): Promise<Run> {
    for await (const _ of this.stream(sessionId, runId, options)) {
      // the answer is of no interest
    }
    return this.get(sessionId, runId);
  }

  /**
   * Starts a run with a text as its input, and returns its answer when it is over; `onText` is called
   * with each piece of the answer as it comes.
   */
  async ask(
    sessionId: string,
    text: string,
    { request, onText, ...options }: AskOptions = {},
  ): Promise<Answer> {
    const { run_id: runId } = await this.start(sessionId, { ...request, input: text }, options);
    const { signal } = options;
    let whole = '';
    for await (const piece of this.stream(sessionId, runId, signal && { signal })) {
      whole += piece;
      onText?.(piece);
    }
    return { text: whole, run: await this.get(sessionId, runId) };
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
    return readThreadPage(
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
