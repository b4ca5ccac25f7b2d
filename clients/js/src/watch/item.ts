// An item of a session: an event, final or in progress.

import { Content } from './content.js';
import type { ItemDelta, WatchedItem } from './message.js';

/** Offset of an item in progress whose content is known, but not the number of deltas in it. */
export const UNKNOWN = -1;

export class Item {
  #event: WatchedItem;
  #content: Content | null = null;
  #grew = false;
  /** Number of deltas in the content, or UNKNOWN. */
  offset: number;

  constructor(event: WatchedItem, offset: number) {
    this.#event = event;
    this.offset = offset;
    if (this.final) return;
    this.#content = Content.resume(event.content);
    if (!this.#content) {
      const role = (event.content as { role?: unknown } | null | undefined)?.role; // not built from deltas: only its role is used
      this.#content = new Content(typeof role === 'string' ? role : '');
      if (offset > 0) this.offset = UNKNOWN;
    }
    this.#grew = true;
  }

  get id(): string {
    return this.#event.id;
  }

  get seq(): number {
    return this.#event.seq;
  }

  get final(): boolean {
    return this.#event.status !== 'in_progress';
  }

  /**
   * Returns the item for an event that the server sent, or this item if it is at least as recent.
   * `more` says that deltas of the event will follow.
   */
  replacedBy(event: WatchedItem, offset: number, more = false): Item {
    if (this.final) return this;
    const fresh = new Item(event, offset);
    if (fresh.final) return fresh;
    if (this.offset === UNKNOWN) return !more && fresh.#size < this.#size ? this : fresh;
    return fresh.offset <= this.offset ? this : fresh;
  }

  /**
   * Appends a delta. Returns 'changed', 'known' if the item includes it, or 'ahead' if it is not the
   * next one. A delta that overlaps the content cannot be split into its old and new part, so it
   * waits for a snapshot too.
   */
  grow(delta: ItemDelta, from: number, to: number): 'changed' | 'known' | 'ahead' {
    if (this.final || (this.offset !== UNKNOWN && to <= this.offset)) return 'known';
    if (from !== this.offset) return 'ahead';
    if (!this.#content?.append(delta)) {
      this.offset = UNKNOWN; // the delta continues other content
      return 'ahead';
    }
    this.offset = to;
    this.#grew = true;
    return 'changed';
  }

  get #size(): number {
    return this.#content?.size ?? 0;
  }

  /** Returns the event as in GET thread; the same object until it changes. */
  render(): WatchedItem {
    if (this.#grew && this.#content) {
      this.#event = { ...this.#event, content: this.#content.snapshot() };
      this.#grew = false;
    }
    return this.#event;
  }
}
