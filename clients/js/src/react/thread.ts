// A session as `useThread` shows it: watched, with the user's inputs at once.

import type { Rethread } from '../client.js';
import { ConflictError } from '../http/errors.js';
import { uuid } from '../http/wait.js';
import type {
  InputEvent,
  RewindRequest,
  Rewound,
  RunError,
  Session,
  ThreadPage,
} from '../types.js';
import type { QueuedInput, WatchedSession } from '../watch/message.js';
import type { WatchConnection, WatchError, Watching } from '../watch/options.js';
import { Pending, type ThreadItem } from './pending.js';
import { Store } from './store.js';

const TAIL = 100; // items read at first, and with each call of `older`

/** A session at one moment. */
export interface ThreadState {
  /** The newest events, oldest first; an unchanged one is the same object as before. */
  items: readonly ThreadItem[];
  status: Session['status'];
  /** Id of the run in progress or the failed run; otherwise ''. */
  run_id: string;
  /** Why the last run failed; otherwise null. */
  error: RunError | null;
  /** Whether the next input leaves the failed run in the session, instead of discarding it. */
  kept: boolean;
  /** Inputs that wait until the runs before them have ended; `run_id` is '' while one is sent. */
  queued: readonly QueuedInput[];
  /** Whether the session is known; before that, the other members are those of an empty one. */
  loaded: boolean;
  /** Whether `older` loads more. */
  has_older: boolean;
  connection: WatchConnection;
  /** Why the session is not shown any more: 403 no access, 404 unknown, 410 deleted; otherwise null. */
  ended: WatchError | null;
}

export const EMPTY: ThreadState = {
  items: [],
  status: 'idle',
  run_id: '',
  error: null,
  kept: false,
  queued: [],
  loaded: false,
  has_older: false,
  connection: { state: 'connecting', retryAt: null },
  ended: null,
};

type Queue = Pick<WatchedSession, 'queued' | 'queue_version'>;
const NO_QUEUE: Queue = { queued: [], queue_version: 0 };

export class ThreadStore extends Store<ThreadState> {
  readonly #client: Rethread;
  readonly #id: string;
  readonly #changed: () => void;
  readonly #noticed: () => void;
  #watching: Watching | null = null;
  #shown: WatchedSession | null = null;
  #queue = NO_QUEUE;
  #pending: readonly Pending[] = [];
  /** The run of the newest accepted input, until the watch knows its status. */
  #begun: Pending | null = null;
  #sending: Promise<unknown> = Promise.resolve();

  /** @param changed called after a change of this client, @param noticed after one of any */
  constructor(client: Rethread, id: string, changed: () => void, noticed: () => void) {
    super(EMPTY);
    this.#client = client;
    this.#id = id;
    this.#changed = changed;
    this.#noticed = noticed;
  }

  protected start(): void {
    this.#watching = this.#client.watch(this.#id, {
      tail: TAIL,
      onChange: (shown) => {
        const before = this.#shown ?? shown;
        this.#shown = shown;
        if (shown.epoch !== before.epoch || shown.status !== before.status) this.#noticed();
        this.#take(shown);
        this.#show();
      },
      onConnection: (connection) => this.set({ connection }),
      onEnd: (ended) => {
        this.#shown = null;
        this.set({ ...EMPTY, ended });
        this.#noticed();
      },
    });
  }

  protected stop(): void {
    this.#watching?.close();
    this.#watching = this.#shown = this.#begun = null;
    this.#queue = NO_QUEUE;
    this.#pending = [];
  }

  /** Sends an input; the next one waits for its response, so that they arrive in order. */
  send(input: string | InputEvent[]): Promise<void> {
    const text = (text: string): InputEvent => ({
      author: 'user',
      content: { role: 'user', parts: [{ text }] },
    });
    const events = typeof input === 'string' ? [text(input)] : input;
    const { status, run_id, kept, queued } = this.get();
    const waits = status === 'in_progress' || (queued.length > 0 && status !== 'failed');
    const discards = status === 'failed' && !kept ? run_id : '';
    const pending = new Pending(events, waits, discards, Date.now());
    this.#pending = [...this.#pending, pending];
    this.#show();
    const sent = this.#sending.then(() => this.#start(pending));
    this.#sending = sent.catch(() => {});
    return sent;
  }

  /** Cancels the run in progress, of which what was said stays, or the run of a queued input. */
  async cancel(run?: string): Promise<void> {
    if (run === undefined) await this.#sending; // a run that is being started has no id yet
    const id = run ?? this.get().run_id;
    if (!id) return;
    this.#take(await this.#client.runs.cancel(this.#id, id, { onFailed: 'keep' }));
    this.#show();
    this.#changed();
  }

  async rewind(before: string, options: Partial<RewindRequest> = {}): Promise<Rewound> {
    const request = { cancel_run: true, ...options, rewind_before_invocation_id: before };
    const rewound = await this.#client.sessions.rewind(this.#id, request);
    this.#changed();
    return rewound;
  }

  async fork(before?: string, name?: string): Promise<Session> {
    const request = {
      rewind_before_invocation_id: before ?? null,
      name: name ?? null,
      strict: true,
    };
    const fork = await this.#client.sessions.fork(this.#id, request);
    this.#changed();
    return fork;
  }

  async older(): Promise<void> {
    await this.#watching?.older();
  }

  reconnect(): void {
    this.#watching?.retry();
  }

  async #start(pending: Pending): Promise<void> {
    try {
      const thread = await this.#request(pending);
      this.#take(thread);
      if (pending.accept(thread, this.#queue.queued)) this.#begun = pending;
      else this.#drop(pending);
    } catch (error) {
      this.#drop(pending);
      throw error;
    } finally {
      this.#show();
      this.#changed();
    }
  }

  /** Starts a run, or queues it behind one that another client has started. */
  async #request({ events: input, discards, waits }: Pending): Promise<ThreadPage> {
    const start = (on_active: 'reject' | 'enqueue') =>
      this.#client.runs.start(this.#id, { input, on_active }, { idempotencyKey: uuid() });
    if (waits && !discards) return start('enqueue');
    try {
      return await start('reject');
    } catch (error) {
      if (error instanceof ConflictError && error.runId) return start('enqueue');
      throw error;
    }
  }

  #drop(pending: Pending): void {
    this.#pending = this.#pending.filter((other) => other !== pending);
  }

  /** Takes a list of queued inputs unless a newer one is known. */
  #take(from: Partial<Queue>): void {
    const { queued = [], queue_version = 0 } = from;
    if (queue_version > this.#queue.queue_version) this.#queue = { queued, queue_version };
  }

  #show(): void {
    const shown = this.#shown;
    if (!shown) return;
    const begun = this.#begun?.accepted;
    if (begun && (shown.status_seq >= begun.seq || shown.epoch > begun.epoch)) this.#begun = null;
    const now = { ...shown, ...this.#queue };
    this.#pending = this.#pending.filter((pending) => !pending.settled(now));
    const starting = this.#begun?.accepted ?? null;
    const sending = this.#pending.some(({ waits }) => !waits);
    this.set({
      ...this.#lists(shown),
      status: starting || sending ? 'in_progress' : shown.status,
      run_id: starting?.run ?? (sending ? '' : shown.run_id),
      error: starting || sending ? null : shown.error,
      kept: !starting && !sending && shown.kept,
      has_older: shown.has_older,
      loaded: true,
    });
  }

  #lists({ items }: WatchedSession): Pick<ThreadState, 'items' | 'queued'> {
    const ids = new Set(items.map(({ id }) => id));
    const runs = new Set(items.map(({ invocation_id }) => invocation_id));
    const pending = this.#pending.filter(({ events }) => !events.some(({ id }) => ids.has(id)));
    const discarded = new Set(pending.map(({ discards }) => discards));
    const kept = items.filter((item) => !discarded.has(item.invocation_id));
    const seq = items.at(-1)?.seq ?? 0;
    const asked = pending.filter(({ waits, accepted }) => !waits || accepted);
    const waiting = pending.filter(({ waits, accepted }) => waits && !accepted);
    return {
      items:
        asked.length === 0 ? items : [...kept, ...asked.flatMap((p) => p.items(this.#id, seq))],
      // The input of a run that has begun may arrive before the list without it.
      queued: [
        ...this.#queue.queued.filter(({ run_id }) => !runs.has(run_id)),
        ...waiting.map(({ queued }) => queued),
      ],
    };
  }
}
