// Questions that are asked anew in their place: edited, or as they were for another answer.

import type { Signal } from '@preact/signals-core';
import { type Api, uid } from '../api/client';
import { rewindSession } from '../api/rewind';
import type { Event, InputEvent, Rewound, Session } from '../api/types';
import type { Begun, Instead } from './asked';
import { type Edit, keepText } from './drafts';
import { type Message, textOf } from './message';
import type { Toasts } from './toasts';
import { inputOf, type Turn } from './turns';
import type { Undo } from './undo';

/** What a revision needs of the chat. */
export interface Revised {
  id: string;
  draft: { value: string };
  turns: { peek(): readonly Turn[] };
  running: { peek(): boolean };
  whole(turn: Turn): Promise<Turn>;
  ask(input: InputEvent[], options: { instead: Instead }): Promise<Begun | null>;
}

interface RevisionDeps {
  api: Api;
  toasts: Toasts;
  undo: Undo;
  /** Keeps an edit that is in progress while another chat is open. */
  edit: Edit;
  changed: (session: Session) => void;
}

export class Revision {
  /** The id of the question that is being edited; '' for none. */
  readonly editing: Signal<string>;
  /** What the user has made of it. */
  readonly text: Signal<string>;

  readonly #chat: Revised;
  readonly #deps: RevisionDeps;
  #busy = false;
  /** The question that is being edited, once it has been among the items. */
  #seen = '';
  /** Its text before it was edited; unknown after a reload. */
  #original = '';

  constructor(chat: Revised, deps: RevisionDeps) {
    this.#chat = chat;
    this.#deps = deps;
    this.editing = deps.edit.id;
    this.text = deps.edit.text;
  }

  /** Opens a question for editing. What the user has made of another one goes into the draft. */
  edit(message: Message): void {
    if (message.id === this.editing.value) return;
    if (this.editing.value && this.text.value !== this.#original) {
      keepText(this.#chat.draft, this.text.value);
    }
    this.#original = textOf(message);
    this.text.value = this.#original;
    this.editing.value = message.id;
  }

  cancel(): void {
    this.editing.value = '';
    this.text.value = '';
  }

  /** Asks the edited question in place of the original. */
  async send(): Promise<void> {
    const id = this.editing.value;
    const text = this.text.value.trim();
    const turn = this.#chat.turns.peek().find(({ messages }) => messages.some((m) => m.id === id));
    if (!turn || this.#busy) return;
    this.cancel();
    await this.#again(turn, (whole) => inputOf(whole, { id, text }), text);
  }

  /** Asks the question of a turn again. */
  regenerate(turn: Turn): Promise<void> {
    return this.#again(turn, inputOf, '');
  }

  /**
   * An edited question whose message is gone, for instance by a rewind elsewhere, becomes the draft.
   *
   * @param older whether there are items before these, which may include the question
   */
  keep(items: readonly Event[], older: boolean): void {
    const id = this.editing.value;
    if (id === '') return;
    if (items.some((item) => item.id === id)) this.#seen = id;
    else if (!older || this.#seen === id) this.#lose(this.text.value);
  }

  #lose(text: string): void {
    keepText(this.#chat.draft, text);
    this.cancel();
    this.#deps.toasts.say('The question is gone. What you wrote is in the message field.');
  }

  async #again(turn: Turn, input: (whole: Turn) => InputEvent[], text: string): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const events = input(turn.cut ? await this.#chat.whole(turn) : turn);
      if (events.length > 0) await this.#replace(turn, events, text);
    } finally {
      this.#busy = false;
    }
  }

  async #replace(turn: Turn, input: InputEvent[], text: string): Promise<void> {
    const { invocation } = turn;
    let rewound: Rewound | undefined;
    const rewind = async () => {
      rewound = await this.#rewind(invocation);
      return rewound;
    };
    const begun = await this.#chat.ask(input, { instead: { of: invocation, rewind } });
    if (!begun) keepText(this.#chat.draft, text);
    this.#did(rewound, begun);
  }

  // Also a rewind whose question could not be asked can be undone.
  #did(rewound: Rewound | undefined, begun: Begun | null): void {
    if (!rewound) return;
    const { event, conflicts } = rewound;
    const own = new Set(begun ? [begun.run] : []);
    const hidden = { marker: event.invocation_id, since: event.seq, own };
    this.#deps.undo.did(hidden, textFor(conflicts, begun));
  }

  #rewind(before: string): Promise<Rewound> {
    const { api } = this.#deps;
    const options = { before, conflicts: 'keep', cancelRun: this.#chat.running.peek() } as const;
    return rewindSession(api, this.#chat.id, options, uid());
  }
}

function textFor(conflicts: Rewound['conflicts'], begun: Begun | null): string {
  const kept = conflicts.map(({ key }) => key).join(', ');
  const text = begun ? 'Asked again.' : 'Rewound.';
  return kept ? `${text} Other chats have changed since, and it stays: ${kept}.` : text;
}
