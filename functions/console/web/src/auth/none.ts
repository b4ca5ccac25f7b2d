// A deployment without a configured sign-in.

import { signal } from '@preact/signals-core';
import { type Auth, SignedOut, type User } from './auth';

export class NoAuth implements Auth {
  readonly user = signal<User | null>(null);

  async token(): Promise<string> {
    throw new SignedOut();
  }

  async signIn(): Promise<void> {}

  async resume(): Promise<string | null> {
    return null;
  }

  signOut(): void {}
}
