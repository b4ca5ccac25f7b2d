// An item of a session: an event, final or in progress.

import { Content } from './content.js';

/** Offset of an item in progress whose content is known, but not the number of deltas in it. */
export const UNKNOWN = -1;

export class Item {
  #event;
  #content = null;
  #grew = false;

  constructor(event, offset) {
    this.#event = event;
    this.offset = offset;
    if (this.final) return;
    this.#content = Content.resume(event.content);
    if (!this.#content) {
      const role = event.content?.role; // not built from deltas: only its role is used
      this.#content = new Content(typeof role === 'string' ? role : '');
      if (offset > 0) this.offset = UNKNOWN;
    }
    this.#grew = true;
  }

  get id() {
    return this.#event.id;
  }

  get seq() {
    return this.#event.seq;
  }

  get final() {
    return this.#event.status !== 'in_progress';
  }

  /**
   * Returns the item for an event that the server sent, or this item if it is at least as recent.
   * `more` says that deltas of the event will follow.
   */
  replacedBy(event, offset, more = false) {
    if (this.final) return this;
    const fresh = new Item(event, offset);
    if (fresh.final) return fresh;
    if (this.offset === UNKNOWN) return !more && fresh.#content.size < this.#content.size ? this : fresh;
    return fresh.offset <= this.offset ? this : fresh;
  }

  /**
   * Appends a delta. Returns 'changed', 'known' if the item includes it, or 'ahead' if it is not the
   * next one. A delta that overlaps the content cannot be split into its old and new part, so it
   * waits for a snapshot too.
   */
  grow(delta, from, to) {
    if (this.final || (this.offset !== UNKNOWN && to <= this.offset)) return 'known';
    if (from !== this.offset) return 'ahead';
    if (!this.#content.append(delta)) {
      this.offset = UNKNOWN; // the delta continues other content
      return 'ahead';
    }
    this.offset = to;
    this.#grew = true;
    return 'changed';
  }

  /** Returns the event as in GET thread; the same object until it changes. */
  render() {
    if (this.#grew) {
      this.#event = { ...this.#event, content: this.#content.snapshot() };
      this.#grew = false;
    }
    return this.#event;
  }
}
