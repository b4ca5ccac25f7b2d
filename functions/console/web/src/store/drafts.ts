// What the user was writing, for each chat: kept while another chat is open, and across a reload of
// the tab. This includes a question that is being edited.

import { effect, type Signal, signal } from '@preact/signals-core';

const PREFIX = 'rethread.draft ';

/** A question that is being edited. */
export interface Edit {
  /** The id of its message; '' for none. */
  readonly id: Signal<string>;
  /** What the user has made of it. */
  readonly text: Signal<string>;
}

export class Drafts {
  readonly #signals = new Map<string, Signal<string>>();
  readonly #user: () => string;
  readonly #storage: Storage;

  /** @param user returns the name of the signed-in user, whose drafts these are */
  constructor(user: () => string, storage = sessionStorage) {
    this.#user = user;
    this.#storage = storage;
  }

  /** The draft of a session; that of the next new chat for ''. */
  of(session: string): Signal<string> {
    return this.#kept(session);
  }

  /** The question of a session that is being edited. */
  edit(session: string): Edit {
    return { id: this.#kept(`${session} edits`), text: this.#kept(`${session} edited`) };
  }

  /** Forgets what was written in a session. */
  forget(session: string): void {
    const { id, text } = this.edit(session);
    for (const kept of [this.of(session), id, text]) kept.value = '';
  }

  // The id of a session has no spaces.
  #kept(name: string): Signal<string> {
    const key = `${PREFIX}${this.#user()} ${name}`;
    const known = this.#signals.get(key);
    if (known) return known;
    const draft = signal(this.#storage.getItem(key) ?? '');
    this.#signals.set(key, draft);
    effect(() => this.#keep(key, draft.value));
    return draft;
  }

  /** Forgets all drafts. */
  clear(): void {
    for (const draft of this.#signals.values()) draft.value = '';
    for (const key of Object.keys(this.#storage)) {
      if (key.startsWith(PREFIX)) this.#storage.removeItem(key);
    }
  }

  #keep(key: string, text: string): void {
    try {
      if (text === '') this.#storage.removeItem(key);
      else this.#storage.setItem(key, text);
    } catch {
      // The storage is full: the draft is kept until a reload
    }
  }
}

/** Puts a text that could not be sent into a draft, before what is there. */
export function keepText(draft: { value: string }, text: string): void {
  if (text === '' || draft.value.startsWith(text)) return;
  draft.value = draft.value.trim() === '' ? text : `${text}\n\n${draft.value}`;
}
