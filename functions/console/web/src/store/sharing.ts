// The shares of one session, for its owner.

import { signal } from '@preact/signals-core';
import { type Api, uid } from '../api/client';
import { createShare, listShares, revokeShare, type ShareOptions } from '../api/shares';
import type { Share } from '../api/types';
import { linkOf } from './link';

const POLL_INTERVAL = 10_000; // milliseconds, while the page is visible

export class Sharing {
  /** The shares in force, newest first; null until loaded. */
  readonly list = signal<readonly Share[] | null>(null);
  readonly failed = signal(false);
  /** The link that was just created: the only time that its address is known. */
  readonly link = signal<{ share: string; url: string } | null>(null);

  readonly #api: Api;
  readonly #session: string;
  #asked = 0; // number of the newest read; responses to older ones are ignored

  constructor(api: Api, session: string) {
    this.#api = api;
    this.#session = session;
  }

  /** Keeps the list up to date, until the returned function is called. */
  follow(): () => void {
    const read = () => {
      if (document.visibilityState === 'visible') void this.read();
    };
    void this.read();
    const timer = setInterval(read, POLL_INTERVAL);
    document.addEventListener('visibilitychange', read);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', read);
      this.#asked++;
    };
  }

  async read(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const shares = await listShares(this.#api, this.#session);
      if (asked !== this.#asked) return;
      this.list.value = shares.toReversed();
      this.failed.value = false;
    } catch {
      if (asked === this.#asked) this.failed.value = true;
    }
  }

  /**
   * Shares the session. A user has one share: a new one replaces the others, so that sharing again
   * changes the right or the end.
   */
  async share(options: ShareOptions): Promise<void> {
    const made = options.user ? await this.#create(options) : await this.#createLink(options);
    const replaced = this.#of(options.user).filter(({ id }) => id !== made.id);
    this.#show([made, ...(this.list.value ?? []).filter(({ id }) => id !== made.id)]);
    await Promise.all(replaced.map((share) => this.revoke(share)));
  }

  async revoke({ id }: Share): Promise<void> {
    await revokeShare(this.#api, this.#session, id);
    if (this.link.value?.share === id) this.link.value = null;
    this.#show((this.list.value ?? []).filter((share) => share.id !== id));
  }

  #of(user: string): Share[] {
    return user ? (this.list.value ?? []).filter((share) => share.user_id === user) : [];
  }

  #create(options: ShareOptions): Promise<Share> {
    return createShare(this.#api, this.#session, options, uid());
  }

  // If the first answer was lost, the repeat has no token: such a link is of no use, and another one
  // is created.
  async #createLink(options: ShareOptions): Promise<Share> {
    let made = await this.#create(options);
    if (!made.token) {
      await revokeShare(this.#api, this.#session, made.id);
      made = await this.#create(options);
    }
    const { token, ...share } = made;
    if (!token) {
      await revokeShare(this.#api, this.#session, made.id);
      throw new Error('The link was created, but its address was lost on the way. Try again.');
    }
    this.link.value = { share: share.id, url: linkOf({ token, session: this.#session }) };
    return share;
  }

  // A read that began before a change would undo it.
  #show(list: readonly Share[]): void {
    this.#asked++;
    this.list.value = list;
  }
}
