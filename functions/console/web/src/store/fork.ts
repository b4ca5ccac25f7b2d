// A fork in the making: done once, with the question to ask anew in the new session.

import { uid } from '../api/client';
import { forkSession } from '../api/forks';
import type { Session } from '../api/types';
import type { App } from './app';

/** From where a session is forked. */
export interface ForkPoint {
  session: string;
  /** The first invocation that is left out; null takes over everything. */
  before: string | null;
  /** The question to ask anew; '' where there is none. */
  question: string;
}

export class Forking {
  readonly point: ForkPoint;
  readonly #app: App;
  #sent = { name: '', key: '' };
  #going: Promise<Session> | null = null;

  constructor(point: ForkPoint, app: App) {
    this.point = point;
    this.#app = app;
  }

  /** Forks, once however often it is asked to, and opens the new session. */
  go(name: string): Promise<Session> {
    this.#going ??= this.#go(name.trim()).finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  async #go(name: string): Promise<Session> {
    const { session: source, before, question } = this.point;
    // The same request again, after an answer that was lost, must not make a second fork.
    if (this.#sent.key === '' || this.#sent.name !== name) this.#sent = { name, key: uid() };
    const session = await forkSession(this.#app.api, source, { before, name }, this.#sent.key);
    this.#app.sessions.value?.changed(session);
    const chat = this.#app.open(session.id);
    chat.session.value = session;
    chat.draft.value = question;
    return session;
  }
}
