// Sign-in on a developer's machine: the local system issues a token for any name.

import { signal } from '@preact/signals-core';
import { ConnectionError, errorOf } from 'rethread';
import { type Auth, SignedOut, type User } from './auth';
import { claimsOf, isFresh } from './jwt';

const NAME = 'rethread.user';

export class DevAuth implements Auth {
  readonly user = signal<User | null>(null);
  readonly #url: string;
  #token = '';
  #asking: Promise<string> | null = null;

  constructor(url: string) {
    this.#url = url;
    const name = localStorage.getItem(NAME);
    if (name) this.user.value = { id: name, name };
  }

  async token(refused?: string): Promise<string> {
    if (
      this.#token &&
      this.#token !== refused &&
      isFresh((claimsOf(this.#token).exp ?? 0) * 1000)
    ) {
      return this.#token;
    }
    const name = this.user.value?.name;
    if (!name) throw new SignedOut();
    this.#asking ??= this.#ask(name).finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async signIn(name = ''): Promise<void> {
    await this.#ask(name);
    localStorage.setItem(NAME, name);
    this.user.value = { id: name, name };
  }

  async resume(): Promise<string | null> {
    return null;
  }

  signOut(): void {
    localStorage.removeItem(NAME);
    this.#token = '';
    this.user.value = null;
  }

  async #ask(name: string): Promise<string> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ user_id: name }),
    }).catch((error) => {
      throw new ConnectionError(error);
    });
    if (!response.ok) throw await errorOf(response);
    this.#token = (await response.json()).token;
    return this.#token;
  }
}
