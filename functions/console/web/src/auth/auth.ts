// The signed-in user and the user's tokens.

import type { ReadonlySignal } from '@preact/signals-core';

export interface User {
  /** The id by which others share sessions with the user: the token's `sub`. */
  id: string;
  /** Display name. */
  name: string;
}

export interface Auth {
  /** Null while signed out. */
  readonly user: ReadonlySignal<User | null>;

  /**
   * Returns a token that is valid for at least another minute, and renews it if necessary.
   * @param refused a token that the server has rejected
   * @throws SignedOut if the user has to sign in again; `user` is null from then on
   */
  token(refused?: string): Promise<string>;

  /** Signs in; `name` is used only for development users. May leave the page. */
  signIn(name?: string): Promise<void>;

  /** Completes a sign-in that left the page; returns the address to return to, null if there was none. */
  resume(): Promise<string | null>;

  signOut(): void;
}

export class SignedOut extends Error {
  constructor() {
    super('Please sign in again.');
    this.name = 'SignedOut';
  }
}
