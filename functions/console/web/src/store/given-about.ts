// What feedback is about: the chat, and the question whose answer it is on. They are read for each
// message, a few at a time.

import { type Signal, signal } from '@preact/signals-core';
import { type Feedback, ForbiddenError, NotFoundError } from 'rethread';
import type { Api } from '../api/client';
import { errorText } from '../api/error';
import { readSession } from '../api/sessions';
import { readTask } from '../api/tasks';
import type { Session } from '../api/types';
import { invocationOf } from './tasks';

const AT_ONCE = 4; // messages

export type About =
  /** `hidden` was rewound or deleted, at least for now. */
  | { state: 'shown' | 'hidden'; session: Session; question: string; invocation: string }
  /** The chat was deleted, the access to it has ended, or it is not known. */
  | { state: 'deleted' | 'ended' | 'unknown' }
  | { state: 'failed'; reason: string };

export class Abouts {
  readonly #api: Api;
  readonly #known = new Map<string, Signal<About | null>>();
  readonly #sessions = new Map<string, Promise<Session>>();
  readonly #waiting: (() => Promise<void>)[] = [];
  #reading = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  /** What feedback on a message is about; null until that is read. */
  of(key: string, feedback: Feedback): Signal<About | null> {
    let about = this.#known.get(key);
    if (!about) {
      about = signal(null);
      this.#known.set(key, about);
      this.#read(about, feedback);
    }
    return about;
  }

  /** Reads again what could not be read. */
  again(key: string, feedback: Feedback): void {
    const about = this.of(key, feedback);
    if (about.value?.state !== 'failed') return;
    about.value = null;
    this.#read(about, feedback);
  }

  #read(about: Signal<About | null>, feedback: Feedback): void {
    this.#waiting.push(async () => {
      about.value = await this.#about(feedback);
    });
    this.#next();
  }

  #next(): void {
    if (this.#reading >= AT_ONCE) return;
    const read = this.#waiting.shift();
    if (!read) return;
    this.#reading++;
    void read().finally(() => {
      this.#reading--;
      this.#next();
    });
  }

  async #about({ session_id: id, task_id: task }: Feedback): Promise<About> {
    if (id === null) return { state: 'unknown' };
    try {
      return await this.#message(await this.#session(id), task);
    } catch (error) {
      if (error instanceof NotFoundError) return { state: 'deleted' };
      if (error instanceof ForbiddenError) return { state: 'ended' };
      return { state: 'failed', reason: errorText(error) };
    }
  }

  // A task is hidden by a rewind like the messages that it records. Tasks of the console have the id of
  // their invocation, so the history can be opened there.
  async #message(session: Session, id: string): Promise<About> {
    try {
      const task = await readTask(this.#api, session.id, id);
      const question = task.user_message ?? '';
      return { state: 'shown', session, question, invocation: invocationOf(task) };
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      return { state: 'hidden', session, question: '', invocation: id };
    }
  }

  #session(id: string): Promise<Session> {
    const known = this.#sessions.get(id);
    if (known) return known;
    const session = readSession(this.#api, id);
    this.#sessions.set(id, session);
    session.catch(() => this.#sessions.delete(id));
    return session;
  }
}
