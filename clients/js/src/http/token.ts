// The caller's bearer token.

import { sendable } from './arguments.js';

/** Says why a token is needed. */
export interface TokenRequest {
  /** The token that the server has rejected; absent for an ordinary request. */
  rejected?: string;
}

/**
 * A bearer token, or a function that returns one. The function is called for each request, so it
 * should cache; after a 401 it is called once more, with the rejected token, and should renew it.
 */
export type TokenSource = string | ((request: TokenRequest) => string | Promise<string>);

/** Asks for tokens. One that no header can have is an ArgumentError. */
export class Tokens {
  readonly #source: TokenSource;
  readonly #pending = new Map<string, Promise<string>>();

  constructor(source: TokenSource) {
    this.#source = typeof source === 'string' ? sendable('token', source) : source;
  }

  /** Returns a token. Requests at the same time share one call of the source. */
  get(rejected = ''): Promise<string> {
    const source = this.#source;
    if (typeof source === 'string') return Promise.resolve(source);
    const pending = this.#pending.get(rejected);
    if (pending) return pending;
    const asked = (async () =>
      sendable('token', await source(rejected ? { rejected } : {})))().finally(() => {
      this.#pending.delete(rejected);
    });
    this.#pending.set(rejected, asked);
    return asked;
  }
}
