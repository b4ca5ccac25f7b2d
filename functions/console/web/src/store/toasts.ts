// Short messages that come and go.

import { signal } from '@preact/signals-core';
import { tell } from '../api/error';
import { SignedOut } from '../auth/auth';

export interface Toast {
  id: number;
  kind: 'info' | 'error';
  text: string;
  /** Something to do about it, such as undoing. */
  action?: { label: string; run: () => void } | undefined;
}

const STAYS = 6000; // milliseconds; an error stays until it is closed, or for three times that
const MOST = 4;

export class Toasts {
  readonly list = signal<readonly Toast[]>([]);
  #ids = 0;

  say(text: string, action?: Toast['action']): void {
    this.#add('info', text, STAYS, action);
  }

  /** Tells of what went wrong. That somebody has to sign in again, the page shows by itself. */
  fail(error: unknown): void {
    if (!(error instanceof SignedOut)) this.#add('error', tell(error), 3 * STAYS);
  }

  dismiss(id: number): void {
    this.list.value = this.list.value.filter((toast) => toast.id !== id);
  }

  #add(kind: Toast['kind'], text: string, stays: number, action?: Toast['action']): void {
    const id = ++this.#ids;
    const others = this.list.value.filter((toast) => toast.text !== text);
    this.list.value = [...others, { id, kind, text, action }].slice(-MOST);
    setTimeout(() => this.dismiss(id), stays);
  }
}
