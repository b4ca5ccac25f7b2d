// A session that is followed live: its content as the watch reports it, and what the user may do.

import { batch, computed, signal } from '@preact/signals-core';
import {
  ForbiddenError,
  type Rethread,
  type WatchConnection,
  type WatchError,
  type WatchedSession,
  type Watching,
} from 'rethread';
import type { Api } from '../api/client';
import { readSession } from '../api/sessions';
import type { Event, ListedSession, Session } from '../api/types';
import { LARGEST, Older } from './older';
import { rightsOf } from './rights';
import type { RunState } from './turns';

export interface LiveDeps {
  api: Api;
  /** The session as the list has it, if it does. */
  known?: ListedSession | undefined;
  /** Whether an item is looked for that may be far from the newest. */
  far?: boolean;
  watch: Rethread['watch'];
  /** Called when the session has changed in a way that the list of sessions shows. */
  changed: (session?: Session) => void;
}

const TAIL = 100; // items loaded at first, and with each page of older ones

export abstract class LiveSession<Deps extends LiveDeps = LiveDeps> {
  readonly id: string;
  /** The session's own data; null until loaded. */
  readonly session = signal<ListedSession | null>(null);
  /** What the user may do here; nothing until the session is loaded. */
  readonly rights = computed(() => rightsOf(this.session.value));
  /** The loaded items, up to the newest. */
  readonly items = signal<readonly Event[]>([]);
  /** The id of the oldest one. */
  readonly oldest = computed(() => this.items.value[0]?.id);
  /** The items before those. */
  readonly older = new Older(async (count) => this.#watching?.older(count));
  readonly run = signal<RunState>({ status: 'idle', run: '', error: null });
  /** Number of rewinds. */
  readonly epoch = signal(0);
  readonly loaded = signal(false);
  readonly connection = signal<WatchConnection>({ state: 'connecting', retryAt: null });
  /** Why the session cannot be shown: 403, 404 or 410; 0 if it can. */
  readonly gone = signal(0);
  /** Why access ended: the share was revoked, or it has expired. */
  readonly ended = signal<'revoked' | 'expired' | null>(null);

  protected readonly deps: Deps;
  #watching: Watching | null = null;

  constructor(id: string, deps: Deps) {
    this.id = id;
    this.deps = deps;
    this.session.value = deps.known ?? null;
  }

  /** Takes what else the watch reports. */
  protected abstract shown(shown: WatchedSession<Event>): void;

  /** Begins to follow the session. */
  protected follow(): void {
    this.#watching = this.deps.watch<Event>(this.id, {
      tail: this.deps.far ? LARGEST : TAIL,
      onChange: (shown) => batch(() => this.#show(shown)),
      onConnection: (connection) => {
        this.connection.value = connection;
        if (connection.state === 'live' && !this.session.peek()) void this.read();
      },
      onAccess: () => void this.read(),
      onEnd: ({ status, reason }) => this.#end(status, reason),
    });
    void this.read();
  }

  close(): void {
    this.#watching?.close();
  }

  /** Connects at once instead of at the next scheduled attempt. */
  reconnect(): void {
    this.#watching?.retry();
  }

  /** Loads items back to a position of the log. Returns whether everything after it is loaded. */
  reach(seq: number): Promise<boolean> {
    const oldest = () => this.items.value[0]?.seq ?? 0;
    const count = Math.min(Math.max(TAIL, oldest() - seq), LARGEST);
    return this.older.until(() => !this.older.more.value || oldest() <= seq, count);
  }

  /** Loads items back to an invocation. Returns whether the invocation is shown. */
  find(invocation: string): Promise<boolean> {
    const there = () => this.items.value.some((i) => i.invocation_id === invocation);
    return this.older.until(there, LARGEST);
  }

  /** Takes the session as a response has it. */
  changed(session: Session): void {
    this.session.value = session;
    this.deps.changed(session);
  }

  /** Reads the session's own data again. A guest's right may have changed without a message. */
  async read(): Promise<void> {
    try {
      this.session.value = await readSession(this.deps.api, this.id);
    } catch (error) {
      // The watch reads the session too, retries, and reports if it is gone. But that a share has
      // expired is reported only with the session's next change.
      if (error instanceof ForbiddenError && this.rights.peek().mine === false) {
        this.#watching?.close();
        this.#end(error.status);
      }
    }
  }

  #show(shown: WatchedSession<Event>): void {
    const { items, has_older, status, run_id, error, epoch } = shown;
    const before = this.run.value;
    this.items.value = items;
    this.older.more.value = has_older;
    this.epoch.value = epoch;
    this.loaded.value = true;
    if (before.status !== status || before.run !== run_id || before.error !== error) {
      this.run.value = { status, run: run_id, error };
      this.deps.changed();
    }
    this.shown(shown);
  }

  #end(status: number, reason?: WatchError['reason']): void {
    if (this.gone.peek()) return;
    batch(() => {
      // A session that was loaded and is now missing was deleted; one that is now forbidden was
      // unshared, even if the message about it was missed.
      this.gone.value = status === 404 && this.loaded.value ? 410 : status;
      this.ended.value = reason ?? (status === 403 && this.loaded.value ? 'revoked' : null);
    });
    this.deps.changed();
  }
}
