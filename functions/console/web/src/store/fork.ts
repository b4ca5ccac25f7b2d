// A fork before it is created, at most once. The question becomes the new session's draft.

import { uid } from '../api/client';
import { forkSession } from '../api/forks';
import type { Session } from '../api/types';
import type { App } from './app';

/** The point at which a session is forked. */
export interface ForkPoint {
  session: string;
  /** The first invocation left out; null forks the whole session. */
  before: string | null;
  /**
   * What the user has chosen: a question, which becomes the draft of the new session, or an answer,
   * which the new session includes.
   */
  from: 'question' | 'answer';
  /** The text of the question or answer. */
  text: string;
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

  /** Forks once, however often it is called, and opens the new session. */
  go(name: string): Promise<Session> {
    this.#going ??= this.#go(name.trim()).finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  async #go(name: string): Promise<Session> {
    const { session: source, before, from, text } = this.point;
    // Repeating a request after a lost response must not make a second fork.
    if (this.#sent.key === '' || this.#sent.name !== name) this.#sent = { name, key: uid() };
    const session = await forkSession(this.#app.api, source, { before, name }, this.#sent.key);
    this.#app.sessions.value?.changed(session);
    const chat = this.#app.open(session.id);
    chat.session.value = session;
    if (from === 'question') chat.draft.value = text;
    return session;
  }
}
