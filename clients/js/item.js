// An item of a session: an event that is final, or in progress.

import { Content } from './content.js';

/** The offset of an item whose content is there, but not how many deltas it holds. */
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
      const role = event.content?.role; // as it was begun: it says who speaks
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
   * What replaces this item: the one that was sent, unless this is as new. With `more` what was
   * sent is not all of it.
   */
  replacedBy(event, offset, more = false) {
    if (this.final) return this;
    const fresh = new Item(event, offset);
    if (fresh.final) return fresh;
    if (this.offset === UNKNOWN) return !more && fresh.#content.size < this.#content.size ? this : fresh;
    return fresh.offset <= this.offset ? this : fresh;
  }

  /**
   * Appends a delta: 'changed', 'known', or 'ahead' where it is not the next one. One that begins
   * before the end of what is there cannot be told apart into old and new, and has to wait for a
   * snapshot as well.
   */
  grow(delta, from, to) {
    if (this.final || (this.offset !== UNKNOWN && to <= this.offset)) return 'known';
    if (from !== this.offset) return 'ahead';
    if (!this.#content.append(delta)) {
      this.offset = UNKNOWN; // this is not the content that it continues
      return 'ahead';
    }
    this.offset = to;
    this.#grew = true;
    return 'changed';
  }

  /** The event as GET thread shows it; the same object until it changes. */
  render() {
    if (this.#grew) {
      this.#event = { ...this.#event, content: this.#content.snapshot() };
      this.#grew = false;
    }
    return this.#event;
  }
}
