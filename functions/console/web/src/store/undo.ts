// What this tab has done to the course of a chat, so that it can be undone: a rewind to before the
// marker of a rewind undoes it.

import { computed, signal } from '@preact/signals-core';
import { ConflictError } from 'rethread';
import { type Api, uid } from '../api/client';
import { MAX_PAGE, readRange, rewindSession } from '../api/rewind';
import type { Event, Rewound, Session } from '../api/types';
import type { Toasts } from './toasts';

/** A rewind, with what was asked after it. */
export interface Step {
  /** The marker's invocation. */
  marker: string;
  /** A position of the log; what others have added after it, an undo would take away. */
  since: number;
  /** The invocations after it that belong to the step itself. */
  own: ReadonlySet<string>;
  /** Whether the undo restores shared values that other sessions have changed since. */
  conflicts?: 'keep' | 'restore';
  /** Called when the step was undone. */
  undone?: () => void;
}

interface UndoDeps {
  api: Api;
  toasts: Toasts;
  /** Called when the session has changed. */
  changed: (session: Session) => void;
}

const TRIES = 3; // an own answer that is being written moves the end of the log
const GONE_ON = 'Not undone: the chat has gone on since. Its history shows everything.';

export class Undo {
  readonly #steps = signal<readonly Step[]>([]);
  /** Whether there is anything to undo. */
  readonly ready = computed(() => this.#steps.value.length > 0);
  readonly #session: string;
  readonly #deps: UndoDeps;
  #going: Promise<void> | null = null;

  constructor(session: string, deps: UndoDeps) {
    this.#session = session;
    this.#deps = deps;
  }

  /** Adds a step. With a text, a toast offers to undo it. */
  did(step: Step, text = ''): void {
    this.#steps.value = [...this.#steps.value, step];
    if (text) this.#deps.toasts.say(text, { label: 'Undo', run: () => void this.undo(step) });
  }

  /** Undoes a step, by default the newest; nothing while another undo is under way. */
  undo(step = this.#steps.value.at(-1)): Promise<void> {
    if (!step || !this.#steps.value.includes(step)) return Promise.resolve();
    this.#going ??= this.#undo(step)
      .catch((error) => this.#deps.toasts.fail(error))
      .finally(() => {
        this.#going = null;
      });
    return this.#going;
  }

  async #undo(step: Step): Promise<void> {
    const done = await this.#rewind(step);
    if (!done) {
      this.#deps.toasts.say(GONE_ON);
      return;
    }
    this.#drop(step, done.event.invocation_id);
    step.undone?.();
    this.#deps.changed(done.session);
    this.#deps.toasts.say('Undone.');
  }

  // Returns null if others have continued the chat, whose messages must not vanish.
  async #rewind(step: Step): Promise<Rewound | null> {
    const { api } = this.#deps;
    const { marker: before, since, own, conflicts = 'keep' } = step;
    for (let tries = 1; ; tries++) {
      const entries = await readRange(api, this.#session, since, since + MAX_PAGE);
      if (entries.length === MAX_PAGE || entries.some((e) => isForeign(e, own))) return null;
      const expectedSeq = entries.at(-1)?.seq ?? since;
      try {
        const options = { before, conflicts, cancelRun: true, expectedSeq };
        return await rewindSession(api, this.#session, options, uid());
      } catch (error) {
        if (!(error instanceof ConflictError) || tries === TRIES) throw error;
      }
    }
  }

  // What an undone step has left in the log belongs to the step before it.
  #drop(step: Step, undoing: string): void {
    const at = this.#steps.value.indexOf(step);
    const steps = this.#steps.value.slice(0, at);
    const last = steps.pop();
    const own = last && new Set([...last.own, ...step.own, step.marker, undoing]);
    this.#steps.value = last && own ? [...steps, Object.assign(last, { own })] : steps;
  }
}

// Records of tasks have no author, and hide nothing that anybody said.
const isForeign = ({ author, invocation_id }: Event, own: ReadonlySet<string>): boolean =>
  Boolean(author) && !own.has(invocation_id);
