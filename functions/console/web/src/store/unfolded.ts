// The chats whose forks are unfolded in the list. The tab keeps them.

import { effect, signal } from '@preact/signals-core';

const STORAGE_KEY = 'rethread.unfolded';

export class Unfolded {
  readonly ids = signal<ReadonlySet<string>>(
    new Set((sessionStorage.getItem(STORAGE_KEY) ?? '').split(' ').filter(Boolean)),
  );

  constructor() {
    effect(() => sessionStorage.setItem(STORAGE_KEY, [...this.ids.value].join(' ')));
  }

  set(id: string, unfolded: boolean): void {
    const others = [...this.ids.peek()].filter((other) => other !== id);
    this.ids.value = new Set(unfolded ? [...others, id] : others);
  }

  clear(): void {
    this.ids.value = new Set();
  }
}
