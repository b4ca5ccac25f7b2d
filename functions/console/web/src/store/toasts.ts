// Short messages that disappear after a while.

import { signal } from '@preact/signals-core';
import { errorText } from '../api/error';
import { SignedOut } from '../auth/auth';

export interface Toast {
  id: number;
  kind: 'info' | 'error';
  text: string;
  /** An action, such as undo. */
  action?: { label: string; run: () => void } | undefined;
}

const DURATION = 6000; // milliseconds; an error stays three times as long
const MAX_TOASTS = 4;

export class Toasts {
  readonly list = signal<readonly Toast[]>([]);
  #ids = 0;

  say(text: string, action?: Toast['action']): void {
    this.#add('info', text, DURATION, action);
  }

  /** Shows an error, except that the user has to sign in again, which the page itself shows. */
  fail(error: unknown): void {
    if (!(error instanceof SignedOut)) this.#add('error', errorText(error), 3 * DURATION);
  }

  dismiss(id: number): void {
    this.list.value = this.list.value.filter((toast) => toast.id !== id);
  }

  #add(kind: Toast['kind'], text: string, stays: number, action?: Toast['action']): void {
    const id = ++this.#ids;
    const others = this.list.value.filter((toast) => toast.text !== text);
    this.list.value = [...others, { id, kind, text, action }].slice(-MAX_TOASTS);
    setTimeout(() => this.dismiss(id), stays);
  }
}
