// A question from when it is sent until it arrives from the watch. It is shown meanwhile.

import { batch, computed, type ReadonlySignal, signal } from '@preact/signals-core';
import { ForbiddenError } from 'rethread';
import { type Api, uid } from '../api/client';
import { startRun } from '../api/runs';
import type { Event, InputEvent, Session, Thread } from '../api/types';
import type { AskOptions, Begun, Start } from './asked';
import { type Queue, runOf } from './queue';
import { eventsBefore } from './rewind-effect';
import type { Trouble } from './trouble';
import type { RunState } from './turns';

/** What asking needs of the chat. */
interface Asked {
  id: string;
  items: ReadonlySignal<readonly Event[]>;
  run: ReadonlySignal<RunState>;
  epoch: ReadonlySignal<number>;
  queue: Queue;
  /** Whether the next question will be queued. */
  queues: ReadonlySignal<boolean>;
  agent: ReadonlySignal<string>;
  read(): Promise<void>;
  changed(session: Session): void;
}

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

interface Taken {
  run: string;
  seq: number;
  epoch: number;
}

export class Asking {
  /** Invocations whose runs this tab has started. */
  readonly started = new Set<string>();
  readonly #pending = signal<Pending | null>(null);
  /** The run of a question that has arrived from the watch, until the run's status arrives too. */
  readonly #begun = signal<Taken | null>(null);
  /** Position in the log up to which the watch knows the status. */
  #statusSeq = 0;
  /** Whether a question is shown that has not arrived from the watch. */
  readonly pending = computed(() => this.#pending.value !== null);
  /** Whether a question is being sent. */
  readonly sending = computed(() => this.pending.value && this.#pending.value?.taken === undefined);
  /** The run as shown: one that was just started is already in progress. */
  readonly state = computed<RunState>(() => {
    const taken = this.#pending.value?.taken ?? this.#begun.value;
    return taken ? { status: 'in_progress', run: taken.run, error: null } : this.#chat.run.value;
  });
  /** The items with the question. */
  readonly items = computed<readonly Event[]>(() => {
    const pending = this.#pending.value;
    const items = this.#chat.items.value;
    const hidden = pending?.queued && !pending.taken;
    if (!pending || hidden || items.some(({ id }) => id === pending.event.id)) return items;
    return [...eventsBefore(items, pending.instead), pending.event];
  });

  readonly #chat: Asked;
  readonly #deps: { api: Api; trouble: Trouble };

  constructor(chat: Asked, deps: { api: Api; trouble: Trouble }) {
    this.#chat = chat;
    this.#deps = deps;
  }

  /**
   * Sends a question, or one that replaces others. Returns its run, which may be queued; null if that
   * failed, which the page says.
   */
  async ask(
    input: InputEvent[],
    { instead, complete, start }: AskOptions = {},
  ): Promise<Begun | null> {
    if (this.sending.value) return null;
    this.#deps.trouble.clear();
    const events = input.map((event) => ({ ...event, id: uid() }));
    const queued = !instead && !start && this.#chat.queues.value;
    this.#pending.value = {
      event: this.#placeholder(events.at(-1)),
      queued,
      instead: instead?.of ?? '',
    };
    if (queued) this.#chat.queue.sends(events);
    try {
      if (complete) events.push({ ...(await complete()), id: events.pop()?.id ?? uid() });
      const rewound = await instead?.rewind();
      if (rewound) this.#chat.changed(rewound.session);
      const begin = start ?? this.#starting(instead !== undefined);
      const thread = await begin(events, this.#chat.agent.value);
      return batch(() => this.#accepted(thread, events));
    } catch (error) {
      this.#pending.value = null;
      this.#deps.trouble.fail(error);
      if (error instanceof ForbiddenError) void this.#chat.read(); // the right may have become less
      return null;
    } finally {
      this.#chat.queue.sends(null);
    }
  }

  // A queue may wait for a failed run to be discarded.
  #starting(replaces: boolean): Start {
    const first = replaces || this.state.value.status === 'failed';
    const active = first ? 'reject' : 'enqueue';
    return (input, agent) =>
      startRun(this.#deps.api, this.#chat.id, input, { key: uid(), active, agent });
  }

  #accepted(thread: Thread, events: InputEvent[]): Begun {
    this.#chat.queue.take(thread);
    const run = runOf(events, thread.queued);
    if (!run) return this.#taken(thread, events.at(-1)?.id);
    this.started.add(run);
    this.#pending.value = null;
    return { run, seq: thread.session.head_seq };
  }

  // The newest event of an input as the server will probably store it.
  #placeholder(input: InputEvent | undefined): Event {
    const seq = (this.#chat.items.value.at(-1)?.seq ?? 0) + 1;
    const common = {
      session_id: this.#chat.id,
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
    this.#chat.changed(thread.session);
    return { run, seq };
  }

  /** Takes the position in the log up to which the watch knows the status. */
  knows(statusSeq: number): void {
    this.#statusSeq = statusSeq;
    this.#settle();
  }

  // Drops the placeholder of a question that has arrived from the watch or was rewound. The question
  // may arrive before the response to its request, and before the status of its run.
  #settle(): void {
    const pending = this.#pending.value;
    const taken = pending?.taken ?? this.#arrived(pending);
    const newest = this.#chat.items.value.at(-1)?.seq ?? 0;
    const epoch = this.#chat.epoch.value;
    const arrived = taken && (newest >= taken.seq || epoch > taken.epoch);
    const begun = arrived ? taken : this.#begun.value;
    const known = begun && (this.#statusSeq >= begun.seq || epoch > begun.epoch);
    this.#begun.value = known ? null : begun;
    if (arrived && pending?.taken) this.#pending.value = null;
  }

  // The run of a question that arrived before the response to its request.
  #arrived(pending: Pending | null): Taken | undefined {
    const item = pending && this.#chat.items.value.find(({ id }) => id === pending.event.id);
    return item
      ? { run: item.invocation_id, seq: item.seq, epoch: this.#chat.epoch.value }
      : undefined;
  }
}
