// Saves a task for each run that this tab has started, and the user's feedback.

import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals-core';
import type { Api } from '../api/client';
import { type FeedbackType, giveFeedback, listTasks, saveTask } from '../api/tasks';
import { feedbackOf, type Given, invocationOf, taskOf } from './tasks';
import type { Toasts } from './toasts';
import type { Turn } from './turns';

/** The part of a chat that is needed here. */
interface Shown {
  readonly id: string;
  readonly turns: ReadonlySignal<readonly Turn[]>;
  readonly loaded: ReadonlySignal<boolean>;
  readonly epoch: ReadonlySignal<number>;
  /** Invocations whose runs this tab has started. */
  readonly started: ReadonlySet<string>;
  /** A turn with all of its messages. */
  whole: (turn: Turn) => Promise<Turn>;
}

export class Feedback {
  /** Feedback on turns, by invocation. */
  readonly given = signal<ReadonlyMap<string, Given>>(new Map());
  /** The turn whose feedback is being sent. */
  readonly giving = signal('');

  readonly #chat: Shown;
  readonly #api: Api;
  readonly #toasts: Toasts;
  /** Ids of the saved tasks, by invocation. */
  readonly #tasks = new Map<string, string>();
  /** The last saved version of each turn. */
  readonly #saved = new Map<string, Turn>();
  readonly #stops: (() => void)[];
  #saving: Promise<void> = Promise.resolve();
  #reading: Promise<void> | null = null;

  constructor(chat: Shown, api: Api, toasts: Toasts) {
    this.#chat = chat;
    this.#api = api;
    this.#toasts = toasts;
    this.#stops = [effect(() => this.#read()), effect(() => this.#keep())];
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  /** Sends feedback. Returns whether that succeeded; otherwise a toast says why. */
  async give(turn: Turn, type: FeedbackType, text = ''): Promise<boolean> {
    if (this.giving.value) return false;
    this.giving.value = turn.invocation;
    try {
      await this.#reading;
      await this.#saving;
      if (!this.#tasks.has(turn.invocation))
        await this.#save(turn.cut ? await this.#chat.whole(turn) : turn);
      const task = this.#tasks.get(turn.invocation) ?? turn.invocation;
      await giveFeedback(this.#api, this.#chat.id, task, type, text);
      this.given.value = new Map(this.given.value).set(turn.invocation, { type, text });
      return true;
    } catch (error) {
      this.#toasts.fail(error);
      return false;
    } finally {
      this.giving.value = '';
    }
  }

  // Loads tasks once the thread is loaded and after each rewind, since undoing one restores tasks.
  #read(): void {
    const { loaded, epoch, id, turns } = this.#chat;
    if (!loaded.value || epoch.value < 0) return;
    if (untracked(() => turns.value.length === 0)) return;
    const reading = listTasks(this.#api, id)
      .then((tasks) => {
        const given = new Map(this.given.value);
        for (const task of tasks) {
          this.#tasks.set(invocationOf(task), task.task_id);
          const feedback = feedbackOf(task);
          if (feedback) given.set(invocationOf(task), feedback);
        }
        this.given.value = given;
      })
      .catch(() => {}) // feedback may be missing; the answers are shown anyway
      .finally(() => {
        if (this.#reading === reading) this.#reading = null;
      });
    this.#reading = reading;
  }

  // Failures to save are not shown, because the log has everything anyway.
  #keep(): void {
    for (const turn of this.#chat.turns.value) {
      if (!this.#chat.started.has(turn.invocation) || turn.cut || !over(turn)) continue;
      if (same(this.#saved.get(turn.invocation), turn)) continue;
      this.#saved.set(turn.invocation, turn);
      this.#saving = this.#saving.then(() => this.#save(turn)).catch(() => {});
    }
  }

  async #save(turn: Turn): Promise<void> {
    const { invocation } = turn;
    const id = this.#tasks.get(invocation) ?? invocation;
    await saveTask(this.#api, this.#chat.id, taskOf(turn, id, this.given.value.get(invocation)));
    this.#tasks.set(invocation, id);
  }
}

const over = (turn: Turn): boolean =>
  turn.outcome !== 'running' && !turn.messages.some(({ streaming }) => streaming);

// An unchanged message is the same object.
function same(saved: Turn | undefined, { outcome, messages }: Turn): boolean {
  return (
    saved?.outcome === outcome &&
    saved.messages.length === messages.length &&
    messages.every((message, i) => message === saved.messages[i])
  );
}
