// Who uses the page, and the tokens that say so.

import type { ReadonlySignal } from '@preact/signals-core';
import type { Config } from '../config';
import { DevAuth } from './dev';
import { NoAuth } from './none';

export interface User {
  /** What the page calls the person. */
  name: string;
}

export interface Auth {
  /** Null while nobody is signed in. */
  readonly user: ReadonlySignal<User | null>;

  /**
   * A token that is valid for a while yet, renewed where need be.
   * @param refused a token that the server no longer takes
   * @throws SignedOut where only the person can help; `user` is null from then on
   */
  token(refused?: string): Promise<string>;

  /** Signs in: `name` is of the dev user, and of no meaning elsewhere. May leave the page. */
  signIn(name?: string): Promise<void>;

  /** Takes up a sign-in that left the page; says where the person was then, or null for none. */
  resume(): Promise<string | null>;

  signOut(): void;
}

export class SignedOut extends Error {
  constructor() {
    super('Please sign in again.');
    this.name = 'SignedOut';
  }
}

export async function createAuth({ sign_in: settings }: Config): Promise<Auth> {
  switch (settings.kind) {
    case 'dev':
      return new DevAuth(settings.token_url);
    case 'oidc': {
      const { OidcAuth } = await import('./oidc');
      return new OidcAuth(settings);
    }
    case 'none':
      return new NoAuth();
  }
}
