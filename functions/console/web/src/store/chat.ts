// One session as it happens: what it shows, and what one can do in it.

import { batch, computed, signal } from '@preact/signals-core';
import type {
  WatchConnection,
  WatchedSession,
  Watching,
  watch as watchSession,
} from '../../../../../clients/js/rethread-watch.js';
import { type Api, uid } from '../api/client';
import { cancelRun, startRun } from '../api/runs';
import { readSession } from '../api/sessions';
import type { Event, InputEvent, Session, Thread } from '../api/types';
import type { Auth } from '../auth/auth';
import { Feedback } from './feedback';
import { Messages } from './message';
import { Older } from './older';
import type { Toasts } from './toasts';
import { inputOf, type RunState, rowsOf, type Turn, turnsOf } from './turns';

export interface ChatDeps {
  api: Api;
  auth: Auth;
  toasts: Toasts;
  watch: typeof watchSession;
  httpUrl: string;
  watchUrl: string;
  /** The session has changed in a way that a list of sessions shows. */
  changed: (session?: Session) => void;
}

const TAIL = 100; // items that a chat opens with, and that each page before them brings

/** A question that is shown before the watch tells of it. */
interface Pending {
  event: Event;
  /** The invocation that the server discards with it, hidden at once. */
  discards: string;
  /** What the server has made of it, once it has answered. */
  taken?: Taken;
}

interface Taken {
  run: string;
  seq: number;
  epoch: number;
}

const BEGINS_WITHIN = 2000; // ms from when the watch tells of a question to its telling of the run

export class Chat {
  readonly id: string;
  /** The session's own data; null until it was read. */
  readonly session = signal<Session | null>(null);
  /** What it shows, back to where it was read. */
  readonly items = signal<readonly Event[]>([]);
  /** What it shows before that. */
  readonly older = new Older(() => this.#watching.older());
  readonly run = signal<RunState>({ status: 'idle', run: '', error: null });
  /** How many rewinds there were. */
  readonly epoch = signal(0);
  readonly loaded = signal(false);
  readonly connection = signal<WatchConnection>({ state: 'connecting', retryAt: null });
  /** Why there is nothing to see: the status of 403, 404 or 410; 0 while all is well. */
  readonly gone = signal(0);
  /** Why one who could see it cannot any more: the share was taken back, or its time is up. */
  readonly ended = signal<'revoked' | 'expired' | null>(null);
  readonly draft = signal('');
  readonly cancelling = signal(false);
  readonly #pending = signal<Pending | null>(null);
  /** A run of a question that the watch has told of, until it tells of the run too. */
  readonly #begun = signal<Taken | null>(null);
  #begins: ReturnType<typeof setTimeout> | undefined;
  /** The run as the person should see it: one that was just started runs already. */
  readonly state = computed<RunState>(() => {
    const taken = this.#pending.value?.taken ?? this.#begun.value;
    return taken ? { status: 'in_progress', run: taken.run, error: null } : this.run.value;
  });

  readonly #messages = new Messages();
  readonly messages = computed(() => this.#messages.of(this.#shown()));
  readonly turns = computed<Turn[]>(() =>
    turnsOf(this.messages.value, this.state.value, this.older.more.value),
  );
  readonly rows = computed(() => rowsOf(this.turns.value));
  /** Whether a question is on its way to the server. */
  readonly sending = computed(
    () => this.#pending.value?.taken === undefined && this.#pending.value !== null,
  );
  readonly running = computed(() => this.state.value.status === 'in_progress');
  /** Invocations whose runs this tab has started. */
  readonly started = new Set<string>();
  readonly feedback: Feedback;

  readonly #deps: ChatDeps;
  readonly #watching: Watching;

  constructor(id: string, deps: ChatDeps) {
    this.id = id;
    this.#deps = deps;
    this.feedback = new Feedback(this, deps.api, deps.toasts);
    this.#watching = deps.watch<Event>({
      httpUrl: deps.httpUrl,
      wsUrl: deps.watchUrl,
      token: () => deps.auth.token(),
      sessionId: id,
      tail: TAIL,
      onChange: (shown) => batch(() => this.#show(shown)),
      onConnection: (connection) => {
        this.connection.value = connection;
      },
      onEnd: ({ status, reason }) => {
        batch(() => {
          // What was there and is not any more was deleted, and what was open was closed, even
          // where the news of that was missed.
          this.gone.value = status === 404 && this.loaded.value ? 410 : status;
          this.ended.value = reason ?? (status === 403 && this.loaded.value ? 'revoked' : null);
        });
        deps.changed();
      },
    });
    void this.#read();
  }

  close(): void {
    this.#watching.close();
    this.feedback.close();
    clearTimeout(this.#begins);
  }

  /** Connects at once, instead of when the next try is due. */
  reconnect(): void {
    this.#watching.retry();
  }

  /** Reads back to an entry of the log; whether all is there from it on. */
  reach(seq: number): Promise<boolean> {
    return this.older.until(() => !this.older.more.value || (this.items.value[0]?.seq ?? 0) <= seq);
  }

  /** Reads back to an invocation; whether it is shown. */
  find(invocation: string): Promise<boolean> {
    return this.older.until(() => this.items.value.some((i) => i.invocation_id === invocation));
  }

  /** A turn with all of its messages, where they can be read. */
  async whole(turn: Turn): Promise<Turn> {
    const { invocation } = turn;
    const now = () => this.turns.value.find((other) => other.invocation === invocation) ?? turn;
    if (turn.cut) await this.older.until(() => !now().cut);
    return now();
  }

  /** Asks the agent. Whether it was asked; if not, people were told why. */
  async send(text: string): Promise<boolean> {
    return this.#ask([{ author: 'user', content: { role: 'user', parts: [{ text }] } }]);
  }

  /** Asks once more what a turn that failed or was stopped began with. */
  async retry(turn: Turn): Promise<boolean> {
    return this.#ask(inputOf(turn.cut ? await this.whole(turn) : turn));
  }

  async cancel(): Promise<void> {
    const { status, run } = this.state.value;
    if (status !== 'in_progress' || this.cancelling.value) return;
    this.cancelling.value = true;
    try {
      await cancelRun(this.#deps.api, this.id, run);
    } catch (error) {
      this.#deps.toasts.fail(error);
    } finally {
      this.cancelling.value = false;
    }
  }

  async #ask(input: InputEvent[]): Promise<boolean> {
    if (this.sending.value || this.running.value) return false;
    const events = input.map((event) => ({ ...event, id: uid() }));
    const last = this.turns.value.at(-1);
    const over = last && (last.outcome === 'failed' || last.outcome === 'stopped');
    this.#pending.value = {
      event: this.#standIn(events.at(-1)),
      discards: over ? last.invocation : '',
    };
    try {
      const thread = await startRun(this.#deps.api, this.id, events, uid());
      this.#taken(thread, events.at(-1)?.id);
      return true;
    } catch (error) {
      this.#pending.value = null;
      this.#deps.toasts.fail(error);
      return false;
    }
  }

  // What the server will make of the newest event of an input, as far as one can know.
  #standIn(input: InputEvent | undefined): Event {
    const seq = (this.items.value.at(-1)?.seq ?? 0) + 1;
    const common = {
      session_id: this.id,
      actions: {},
      status: 'completed',
      created_time: Date.now(),
    } as const;
    return {
      id: '',
      author: 'user',
      content: null,
      ...input,
      ...common,
      seq,
      invocation_id: 'pending',
    };
  }

  #taken(thread: Thread, asked?: string): void {
    const run = thread.session.active_run_id ?? thread.run?.id ?? '';
    const seq = thread.items.find(({ id }) => id === asked)?.seq ?? thread.session.head_seq;
    this.started.add(run);
    this.session.value = thread.session;
    const pending = this.#pending.value;
    if (pending) {
      const event = { ...pending.event, invocation_id: run };
      this.#pending.value = { ...pending, event, taken: { run, seq, epoch: thread.session.epoch } };
      this.#settle();
    }
    this.#deps.changed(thread.session);
  }

  #show({ items, has_older, status, run_id, error, epoch }: WatchedSession<Event>): void {
    const before = this.run.value;
    this.items.value = items;
    this.older.more.value = has_older;
    this.epoch.value = epoch;
    this.loaded.value = true;
    if (before.status !== status || before.run !== run_id || before.error !== error) {
      this.run.value = { status, run: run_id, error };
      this.#deps.changed();
    }
    this.#settle();
  }

  // A question that the watch tells of, or has passed, needs no standing in any more.
  #settle(): void {
    const taken = this.#pending.value?.taken;
    if (taken && this.epoch.value > taken.epoch) this.#pending.value = null;
    const newest = this.items.value.at(-1)?.seq ?? 0;
    if (taken && this.epoch.value === taken.epoch && newest >= taken.seq) {
      this.#pending.value = null;
      this.#begun.value = taken;
      clearTimeout(this.#begins);
      // One that said nothing and is over when the watch comes to it is never told of.
      this.#begins = setTimeout(() => {
        this.#begun.value = null;
      }, BEGINS_WITHIN);
    }
    const begun = this.#begun.value;
    if (!begun) return;
    const told = this.run.value.run === begun.run;
    const answered = this.items.value.some(
      (i) => i.invocation_id === begun.run && i.seq > begun.seq,
    );
    if (told || answered || this.epoch.value > begun.epoch) this.#begun.value = null;
  }

  async #read(): Promise<void> {
    try {
      this.session.value = await readSession(this.#deps.api, this.id);
    } catch {
      // Watching reads the session as well, tries again, and says where it is gone.
    }
  }

  #shown(): readonly Event[] {
    const pending = this.#pending.value;
    const items = this.items.value;
    if (!pending || items.some(({ id }) => id === pending.event.id)) return items;
    return [...items.filter((item) => item.invocation_id !== pending.discards), pending.event];
  }
}
