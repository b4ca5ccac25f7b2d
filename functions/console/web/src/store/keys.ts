// Whether keys of a single character act. People who dictate, or whose screen reader types them, can
// turn them off.

import { effect, signal } from '@preact/signals-core';

const STORAGE_KEY = 'rethread.keys';
const OFF = 'no characters';

export class KeyChoice {
  readonly characters = signal(localStorage.getItem(STORAGE_KEY) !== OFF);

  constructor() {
    effect(() => {
      if (this.characters.value) localStorage.removeItem(STORAGE_KEY);
      else localStorage.setItem(STORAGE_KEY, OFF);
    });
  }
}
