// One live session: its content, and the actions of the user.

import { batch, computed, type Signal, signal } from '@preact/signals-core';
import {
  ForbiddenError,
  type Rethread,
  type WatchConnection,
  type WatchError,
  type WatchedSession,
  type Watching,
} from 'rethread';
import { type Api, uid } from '../api/client';
import { cancelRun, startRun } from '../api/runs';
import { readSession } from '../api/sessions';
import type { Event, InputEvent, Session, Thread } from '../api/types';
import { agentOf } from './agents';
import { Answers } from './answers';
import { Feedback } from './feedback';
import type { DraftFiles } from './files';
import { isQuestion, type Message, Messages } from './message';
import { LARGEST, Older } from './older';
import { questionsOf } from './questions';
import { Queue, runOf } from './queue';
import { type Begun, type Instead, Revision, type Start } from './revision';
import { eventsBefore } from './rewind-effect';
import { rightsOf } from './rights';
import type { Toasts } from './toasts';
import { isOver, type RunState, rowsOf, type Turn, turnsOf } from './turns';
import { Undo } from './undo';
import type { Variants } from './variants';

export interface ChatDeps {
  api: Api;
  toasts: Toasts;
  /** The session as the list has it, if it does. */
  known?: Session | undefined;
  /** Whether an item is looked for that may be far from the newest. */
  far?: boolean;
  /** What the user is writing. */
  draft: Signal<string>;
  /** The files that will be sent with it. */
  files: DraftFiles;
  watch: Rethread['watch'];
  /** Called when the session has changed in a way that the list of sessions shows. */
  changed: (session?: Session) => void;
}

const TAIL = 100; // items loaded at first, and with each page of older ones

/** A question that is shown before it arrives from the watch. */
interface Pending {
  event: Event;
  /** Whether it is shown in the queue, not in the conversation. */
  queued: boolean;
  /** The invocation that it replaces, with everything after it; both are hidden at once. */
  instead: string;
  /** The server's response, once it has arrived. */
  taken?: Taken;
}

interface AskOptions {
  /** What the question replaces. */
  instead?: Instead | undefined;
  /** Makes the event that is sent in place of the last one, which is shown meanwhile. */
  complete?: (() => Promise<InputEvent>) | undefined;
  /** Starts the run, which is then never queued. */
  start?: Start;
}

interface Taken {
  run: string;
  seq: number;
  epoch: number;
}

export class Chat {
  readonly id: string;
  /** The session's own data; null until loaded. */
  readonly session = signal<Session | null>(null);
  /** What the user may do here; nothing until the session is loaded. */
  readonly rights = computed(() => rightsOf(this.session.value));
  /** The loaded items, up to the newest. */
  readonly items = signal<readonly Event[]>([]);
  /** The items before those. */
  readonly older = new Older((count) => this.#watching.older(count));
  readonly run = signal<RunState>({ status: 'idle', run: '', error: null });
  /** Number of rewinds. */
  readonly epoch = signal(0);
  readonly loaded = signal(false);
  readonly connection = signal<WatchConnection>({ state: 'connecting', retryAt: null });
  /** Why the session cannot be shown: 403, 404 or 410; 0 if it can. */
  readonly gone = signal(0);
  /** Why access ended: the share was revoked, or it has expired. */
  readonly ended = signal<'revoked' | 'expired' | null>(null);
  readonly draft: Signal<string>;
  readonly files: DraftFiles;
  readonly cancelling = signal(false);
  readonly #pending = signal<Pending | null>(null);
  /** The run of a question that has arrived from the watch, until the run's status arrives too. */
  readonly #begun = signal<Taken | null>(null);
  /** Position in the log up to which the watch knows the status. */
  #statusSeq = 0;
  /** The run as shown: one that was just started is already in progress. */
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
  /** Whether a question is being sent. */
  readonly sending = computed(
    () => this.#pending.value?.taken === undefined && this.#pending.value !== null,
  );
  readonly running = computed(() => this.state.value.status === 'in_progress');
  /** Whether the next question will be queued. A failed run keeps no question from being first. */
  readonly queues = computed(
    () =>
      this.running.value ||
      (this.queue.list.value.length > 0 && this.state.value.status !== 'failed'),
  );
  /** Invocations whose runs this tab has started. */
  readonly started = new Set<string>();
  readonly feedback: Feedback;
  /** The questions that wait until the answers before them are complete. */
  readonly queue: Queue;
  readonly undo: Undo;
  readonly revision: Revision;
  /** The variants of its questions; null until they are loaded, or while there are none. */
  readonly variants = signal<Variants | null>(null);
  /** The agent of the next questions; '' for the session's own. */
  readonly agent: Signal<string>;
  /** What the agent has asked, for those who may answer. */
  readonly questions = computed(() =>
    this.rights.value.write && !this.#pending.value && !this.running.value
      ? questionsOf(this.turns.value.at(-1))
      : [],
  );
  readonly answers: Answers;

  readonly #deps: ChatDeps;
  readonly #watching: Watching;

  constructor(id: string, deps: ChatDeps) {
    this.id = id;
    this.draft = deps.draft;
    this.files = deps.files;
    this.agent = agentOf(id);
    this.session.value = deps.known ?? null;
    this.#deps = deps;
    this.feedback = new Feedback(this, deps.api, deps.toasts);
    this.queue = new Queue(id, deps.api, deps.toasts);
    this.answers = new Answers(this, deps.api);
    const { api, toasts } = deps;
    const changed = (session: Session) => this.changed(session);
    this.undo = new Undo(id, { api, toasts, changed });
    this.revision = new Revision(this, { api, toasts, changed, undo: this.undo });
    this.#watching = deps.watch<Event>(id, {
      tail: deps.far ? LARGEST : TAIL,
      onChange: (shown) => batch(() => this.#show(shown)),
      onConnection: (connection) => {
        this.connection.value = connection;
        if (connection.state === 'live' && !this.session.peek()) void this.read();
      },
      onAccess: () => void this.read(),
      onEnd: ({ status, reason }) => this.#end(status, reason),
    });
    void this.read();
  }

  close(): void {
    this.#watching.close();
    this.feedback.close();
  }

  /** Connects at once instead of at the next scheduled attempt. */
  reconnect(): void {
    this.#watching.retry();
  }

  /** Loads items back to a position of the log. Returns whether everything after it is loaded. */
  reach(seq: number): Promise<boolean> {
    const oldest = () => this.items.value[0]?.seq ?? 0;
    const count = Math.min(Math.max(TAIL, oldest() - seq), LARGEST);
    return this.older.until(() => !this.older.more.value || oldest() <= seq, count);
  }

  /** Loads items back to an invocation. Returns whether the invocation is shown. */
  find(invocation: string): Promise<boolean> {
    const there = () => this.items.value.some((i) => i.invocation_id === invocation);
    return this.older.until(there, LARGEST);
  }

  /** A turn with all of its messages, as far as they can be loaded. */
  async whole(turn: Turn): Promise<Turn> {
    const { invocation } = turn;
    const now = () => this.turns.value.find((other) => other.invocation === invocation) ?? turn;
    if (turn.cut) await this.older.until(() => !now().cut);
    return now();
  }

  /**
   * Sends a question with the files that were added to it. Returns whether that succeeded; otherwise
   * a toast says why.
   */
  async send(text: string): Promise<boolean> {
    const files = this.files.list.peek();
    const names = files.map(({ name }) => ({ file_data: { display_name: name } }));
    const parts = [...(text ? [{ text }] : []), ...names];
    const input = [{ author: 'user', content: { role: 'user', parts } }];
    const complete = files.length > 0 ? () => this.#upload(text) : undefined;
    const sent = (await this.ask(input, { complete })) !== null;
    if (sent) for (const { id } of files) this.files.remove(id);
    return sent;
  }

  /** Opens a question for editing, by default the newest. Returns whether there is one. */
  edit(invocation?: string): boolean {
    const asked = (message: Message) =>
      isQuestion(message) && (invocation ?? message.invocation) === message.invocation;
    const question = this.messages.peek().findLast(asked);
    if (!question || !this.rights.peek().write) return false;
    this.revision.edit(question);
    return true;
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

  async #upload(text: string): Promise<InputEvent> {
    const { upload, questionOf } = await import('./upload');
    return questionOf(this.id, text, await upload(this.#deps.api, this.id, this.files));
  }

  /**
   * Sends a question, or one that replaces others. Returns its run, which may be queued; null if that
   * failed, which a toast says.
   */
  async ask(
    input: InputEvent[],
    { instead, complete, start }: AskOptions = {},
  ): Promise<Begun | null> {
    if (this.sending.value) return null;
    const events = input.map((event) => ({ ...event, id: uid() }));
    const queued = !instead && !start && this.queues.value;
    const last = this.turns.value.at(-1);
    const discards = last && isOver(last) && !queued ? last.invocation : '';
    this.#pending.value = {
      event: this.#placeholder(events.at(-1)),
      queued,
      instead: instead?.of ?? discards,
    };
    if (queued) this.queue.sends(events);
    try {
      if (complete) events.push({ ...(await complete()), id: events.pop()?.id ?? uid() });
      const rewound = await instead?.rewind?.();
      if (rewound) this.changed(rewound.session);
      const begin = start ?? this.#starting(instead !== undefined);
      const thread = await begin(events, this.agent.value);
      return batch(() => this.#accepted(thread, events));
    } catch (error) {
      this.#pending.value = null;
      this.#deps.toasts.fail(error);
      if (error instanceof ForbiddenError) void this.read(); // the right may have become less
      return null;
    } finally {
      this.queue.sends(null);
    }
  }

  // A queue may wait for a failed run to be discarded.
  #starting(replaces: boolean): Start {
    const first = replaces || this.state.value.status === 'failed';
    const active = first ? 'reject' : 'enqueue';
    return (input, agent) =>
      startRun(this.#deps.api, this.id, input, { key: uid(), active, agent });
  }

  #accepted(thread: Thread, events: InputEvent[]): Begun {
    this.queue.take(thread);
    const run = runOf(events, thread.queued);
    if (!run) return this.#taken(thread, events.at(-1)?.id);
    this.started.add(run);
    this.#pending.value = null;
    return { run, seq: thread.session.head_seq };
  }

  // The newest event of an input as the server will probably store it.
  #placeholder(input: InputEvent | undefined): Event {
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

  #taken(thread: Thread, asked?: string): Begun {
    const run = thread.session.active_run_id ?? thread.run?.id ?? '';
    const seq = thread.items.find(({ id }) => id === asked)?.seq ?? thread.session.head_seq;
    this.started.add(run);
    const pending = this.#pending.value;
    if (pending) {
      const event = { ...pending.event, invocation_id: run };
      this.#pending.value = { ...pending, event, taken: { run, seq, epoch: thread.session.epoch } };
      this.#settle();
    }
    this.changed(thread.session);
    return { run, seq };
  }

  /** Takes the session as a response has it. */
  changed(session: Session): void {
    this.session.value = session;
    this.#deps.changed(session);
  }

  #show(shown: WatchedSession<Event>): void {
    const { items, has_older, status, run_id, error, epoch } = shown;
    const before = this.run.value;
    this.items.value = items;
    this.revision.keep(items);
    this.older.more.value = has_older;
    this.epoch.value = epoch;
    this.loaded.value = true;
    this.queue.take(shown);
    this.#statusSeq = shown.status_seq;
    if (before.status !== status || before.run !== run_id || before.error !== error) {
      this.run.value = { status, run: run_id, error };
      this.#deps.changed();
    }
    this.#settle();
  }

  // Drops the placeholder of a question that has arrived from the watch or was rewound. The question
  // may arrive before the response to its request, and before the status of its run.
  #settle(): void {
    const pending = this.#pending.value;
    const taken = pending?.taken ?? this.#arrived(pending);
    const newest = this.items.value.at(-1)?.seq ?? 0;
    const epoch = this.epoch.value;
    const arrived = taken && (newest >= taken.seq || epoch > taken.epoch);
    const begun = arrived ? taken : this.#begun.value;
    const known = begun && (this.#statusSeq >= begun.seq || epoch > begun.epoch);
    this.#begun.value = known ? null : begun;
    if (arrived && pending?.taken) this.#pending.value = null;
  }

  // The run of a question that arrived before the response to its request.
  #arrived(pending: Pending | null): Taken | undefined {
    const item = pending && this.items.value.find(({ id }) => id === pending.event.id);
    return item ? { run: item.invocation_id, seq: item.seq, epoch: this.epoch.value } : undefined;
  }

  /** Reads the session's own data again. A guest's right may have changed without a message. */
  async read(): Promise<void> {
    try {
      this.session.value = await readSession(this.#deps.api, this.id);
    } catch (error) {
      // The watch reads the session too, retries, and reports if it is gone. But that a share has
      // expired is reported only with the session's next change.
      if (error instanceof ForbiddenError && this.rights.peek().mine === false) {
        this.#watching.close();
        this.#end(error.status);
      }
    }
  }

  #end(status: number, reason?: WatchError['reason']): void {
    if (this.gone.peek()) return;
    batch(() => {
      // A session that was loaded and is now missing was deleted; one that is now forbidden was
      // unshared, even if the message about it was missed.
      this.gone.value = status === 404 && this.loaded.value ? 410 : status;
      this.ended.value = reason ?? (status === 403 && this.loaded.value ? 'revoked' : null);
    });
    this.#deps.changed();
  }

  #shown(): readonly Event[] {
    const pending = this.#pending.value;
    const items = this.items.value;
    const hidden = pending?.queued && !pending.taken;
    if (!pending || hidden || items.some(({ id }) => id === pending.event.id)) return items;
    return [...eventsBefore(items, pending.instead), pending.event];
  }
}
