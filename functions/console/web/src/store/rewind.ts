// A rewind in the making: what it would do, what to decide, and doing it once.

import { batch, computed, effect, signal, untracked } from '@preact/signals-core';
import { type Api, uid } from '../api/client';
import { ApiError, tell } from '../api/error';
import { previewRewind, rewindSession } from '../api/rewind';
import type { Rewound, Session } from '../api/types';
import type { Chat } from './chat';
import type { Toasts } from './toasts';

/** Where a rewind goes, and what it is for people. */
export interface RewindTarget {
  /** rewind: hide what follows. before, upTo: go back to something hidden. undo: a rewind. */
  kind: 'rewind' | 'before' | 'upTo' | 'undo';
  /** The invocation before whose first entry the session goes back. */
  before: string;
  /** The question to ask anew; '' where there is none. */
  question: string;
  /** When what is undone was done. */
  time: number;
}

export interface RewindDeps {
  api: Api;
  toasts: Toasts;
  /** The session has changed. */
  changed: (session: Session) => void;
}

export class Rewinding {
  readonly target: RewindTarget;
  /** What would happen; null until that is known, and while it is looked up anew. */
  readonly preview = signal<Rewound | null>(null);
  /** Shared keys that other sessions have changed since. */
  readonly conflicts = signal<readonly string[]>([]);
  readonly choice = signal<'keep' | 'restore'>('keep');
  /** Why there is no preview. */
  readonly failed = signal('');
  /** Whether a run would have to be stopped. */
  readonly stops = computed(() => this.#chat.running.value);

  readonly #chat: Chat;
  readonly #deps: RewindDeps;
  #looks = 0;
  #key = uid();
  #going: Promise<Rewound> | null = null;

  constructor(target: RewindTarget, chat: Chat, deps: RewindDeps) {
    this.target = target;
    this.#chat = chat;
    this.#deps = deps;
  }

  /** Looks what would happen, anew whenever the session changes; returns how to stop that. */
  start(): () => void {
    // An answer that grows is nothing new: only its place in the log matters
    const news = computed(() => {
      const { epoch, items } = this.#chat;
      const { choice, stops } = this;
      return [choice.value, stops.value, epoch.value, items.value.at(-1)?.seq].join();
    });
    return effect(() => {
      news.value;
      untracked(() => void this.look());
    });
  }

  async look(): Promise<void> {
    const look = ++this.#looks;
    const conflicts = this.choice.value;
    this.failed.value = '';
    this.preview.value = null;
    try {
      const options = { before: this.target.before, conflicts };
      const preview = await previewRewind(this.#deps.api, this.#chat.id, options);
      if (look !== this.#looks) return;
      batch(() => {
        this.preview.value = preview;
        // Those that are to come back are no longer listed
        if (conflicts === 'keep') this.conflicts.value = preview.conflicts.map(({ key }) => key);
      });
      this.#key = uid();
    } catch (error) {
      if (look === this.#looks) this.failed.value = tell(error);
    }
  }

  /** Rewinds, once however often it is asked to. What is in the way is thrown, and looked at. */
  go(): Promise<Rewound> {
    this.#going ??= this.#go().finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  async #go(): Promise<Rewound> {
    const { before } = this.target;
    const options = { before, conflicts: this.choice.value, cancelRun: this.stops.value };
    try {
      const done = await rewindSession(this.#deps.api, this.#chat.id, options, this.#key);
      this.#done(done);
      return done;
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) void this.look();
      throw error;
    }
  }

  #done(done: Rewound): void {
    const { question, kind } = this.target;
    const draft = this.#chat.draft;
    if (question && draft.value.trim() === '') draft.value = question;
    this.#chat.session.value = done.session;
    this.#deps.changed(done.session);
    this.#deps.toasts.say(kind === 'rewind' ? 'Rewound.' : 'Brought back.', {
      label: 'Undo',
      run: () => void this.#undo(done),
    });
  }

  // A rewind to before the entry that a rewind left in the log undoes it.
  async #undo(done: Rewound): Promise<void> {
    const options = {
      before: done.event.invocation_id,
      conflicts: this.choice.value,
      cancelRun: false,
    };
    try {
      const undone = await rewindSession(this.#deps.api, this.#chat.id, options, uid());
      if (this.#chat.draft.value === this.target.question) this.#chat.draft.value = '';
      this.#chat.session.value = undone.session;
      this.#deps.changed(undone.session);
      this.#deps.toasts.say('As it was before.');
    } catch (error) {
      this.#deps.toasts.fail(error);
    }
  }
}
