// The items that are held, in the order of their positions.

import type { Item } from './item.js';
import type { WatchedItem } from './message.js';

export class Items {
  #list: Item[];

  constructor(list: Item[] = []) {
    this.#list = list;
  }

  get size(): number {
    return this.#list.length;
  }

  at(seq: number): Item | undefined {
    return this.#list[this.#index(seq)];
  }

  /**
   * A message's item, if it is held. The epoch does not matter: an item that is still shown after a
   * rewind completes as without it.
   */
  find(seq: number, id: string | undefined): Item | undefined {
    const item = this.at(seq);
    return item?.id === id ? item : undefined;
  }

  /** The first item with a property. */
  first(has: (item: Item) => boolean): Item | undefined {
    return this.#list.find(has);
  }

  some(has: (item: Item) => boolean): boolean {
    return this.#list.some(has);
  }

  /** Adds an item after all others. */
  add(item: Item): void {
    this.#list.push(item);
  }

  /** Adds items before all others. */
  prepend(items: Item[]): void {
    this.#list.unshift(...items);
  }

  /** Replaces the item at the same position. */
  put(item: Item): void {
    this.#list[this.#index(item.seq)] = item;
  }

  removeAfter(seq: number): void {
    this.#list = this.#list.filter((item) => item.seq <= seq);
  }

  /** The items as they are shown; unchanged ones are the same objects as before. */
  render(): WatchedItem[] {
    return this.#list.map((item) => item.render());
  }

  // Index of the item at a position; -1 if there is none.
  #index(seq: number): number {
    let low = 0;
    for (let high = this.#list.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.#list[middle]?.seq ?? 0) < seq) low = middle + 1;
      else high = middle;
    }
    return this.#list[low]?.seq === seq ? low : -1;
  }
}
