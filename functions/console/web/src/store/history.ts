// The complete log of a session: the newest entries first, older ones on demand, and new ones as
// they are appended.

import { computed } from '@preact/signals-core';
import type { Api } from '../api/client';
import type { Event } from '../api/types';
import type { Chat } from './chat';
import { shownBefore } from './history-lineage';
import { historyRows } from './history-rows';
import { LogPages, merge } from './log-pages';
import { Messages } from './message';

export class History extends LogPages {
  /** Whether there are older entries than those loaded. */
  override readonly more = computed(() => this.oldest() > 1 || this.#behind.value);
  /** Whether the chat is loaded less far back than the log. */
  readonly #behind = computed(() => this.#chat.older.more.value && this.#from() > this.oldest());
  /** Ids of the events that the session shows now. */
  readonly #shown = computed(() => new Set(this.#chat.items.value.map(({ id }) => id)));
  readonly #log = computed(() => {
    const oldest = this.oldest(); // older items would leave a gap
    const items = this.#chat.items.value.filter(({ seq }) => seq >= oldest);
    if (!this.loaded.value) return [];
    // It is unknown which entries before the chat's items are shown
    const from = this.#behind.value ? this.#from() : 0;
    return merge(this.entries.value, items).filter(({ seq }) => seq >= from);
  });
  readonly #messages = new Messages();
  readonly rows = computed(() =>
    historyRows(this.#log.value, this.#shown.value, this.#messages, this.#chat.state.value),
  );
  /** Whether the log and the chat are loaded. */
  readonly ready = computed(() => this.loaded.value && this.#chat.loaded.value);

  readonly #chat: Chat;

  constructor(chat: Chat, api: Api) {
    super(chat.id, api);
    this.#chat = chat;
  }

  /** Loads the newest entries, and follows the log until the returned function is called. */
  start(): () => void {
    // A rewind changes the log, but not always the chat
    return this.follow(() => this.#chat.epoch.value);
  }

  hides(id: string): boolean {
    return this.loaded.value && !this.#shown.value.has(id);
  }

  /** Returns the boundary invocation of the rewind after which a message is the last one shown. */
  following({ seq, invocation_id: own }: Event): string | null {
    const begun = new Set<string>();
    for (const entry of this.#log.value) {
      const fresh = !begun.has(entry.invocation_id);
      begun.add(entry.invocation_id);
      if (entry.seq > seq && entry.invocation_id !== own && fresh) return entry.invocation_id;
    }
    return null;
  }

  /**
   * Returns the messages shown after a rewind to before an invocation; null for an unknown one, or
   * unless the log is loaded completely.
   */
  shownBefore(invocation: string): Event[] | null {
    return this.more.value ? null : shownBefore(this.#log.value, invocation);
  }

  protected override async newest(): Promise<void> {
    await super.newest();
    if (this.#chat.loaded.value) await this.#reach();
  }

  protected override async older(): Promise<void> {
    if (!this.#behind.value) await super.older();
    await this.#reach();
  }

  // Position from which on the chat is loaded.
  #from(): number {
    return this.#chat.items.value[0]?.seq ?? 0;
  }

  async #reach(): Promise<void> {
    if (!(await this.#chat.reach(this.oldest()))) throw new Error(this.#chat.older.failed.value);
  }
}
