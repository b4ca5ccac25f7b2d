// Watches a session live, over the WebSocket API and any environment's WebSocket.

import { RethreadError } from '../http/errors.js';
import type { Connection } from './connection.js';
import { Link } from './link.js';
import type { WatchedItem } from './message.js';
import {
  type Access,
  isFinal,
  type WatchConnection,
  type WatchError,
  type Watching,
  type WatchOptions,
} from './options.js';
import { Reader } from './reader.js';
import { WatchState } from './state.js';
import { Timers } from './timers.js';

/** Watches a session until `close` or a final error. It retries all other failures. */
export class SessionWatch implements Watching {
  readonly #access: Access;
  readonly #options: WatchOptions<WatchedItem>;
  readonly #state = new WatchState();
  readonly #timers = new Timers();
  readonly #link: Link;
  readonly #reader: Reader;
  #subscribedOn: Connection | null = null;
  #endReason: WatchError['reason']; // why the server ended the subscription, until another is accepted
  #live = false; // the subscription on the current connection was accepted
  #offline = false;
  #reported: WatchConnection = { state: 'connecting', retryAt: null };
  #shown = 0;
  #closed = false;

  constructor(access: Access, options: WatchOptions<WatchedItem>) {
    this.#access = access;
    this.#options = options;
    const update = () => this.#update();
    const report = () => this.#report();
    const end = (error: WatchError) => this.#end(error);
    const handlers = { update, report, end };
    this.#reader = new Reader(access, options.tail, this.#state, this.#timers, handlers);
    this.#link = new Link(access, this.#timers, {
      ...handlers,
      subscribed: (connection) => this.#subscribed(connection),
      message: (message) => {
        this.#state.apply(message, Date.now());
        update();
      },
      unreadable: () => {
        this.#state.missed(Date.now());
        update();
      },
      unsubscribed: (on, reason) => this.#subscribedOn === on && this.#unsubscribed(reason),
      refused: (error) => this.#refused(error),
      lost: (current) => this.#lost(current),
    });
  }

  start(): void {
    const { window, document } = this.#access.environment;
    window?.addEventListener('online', this.#wake);
    document?.addEventListener('visibilitychange', this.#wake);
    void this.#link.connect();
    this.#update();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timers.clear();
    const { window, document } = this.#access.environment;
    window?.removeEventListener('online', this.#wake);
    document?.removeEventListener('visibilitychange', this.#wake);
    this.#link.close();
    this.#reader.close();
    this.#access.closed();
  }

  older(count?: number): Promise<void> {
    return this.#reader.older(count);
  }

  /** Retries at once everything that waits after a failure. */
  retry(): void {
    if (this.#closed) return;
    this.#link.failures = this.#reader.failures = 0;
    this.#link.retry();
    this.#reader.retry();
    if (this.#timers.has('subscribe')) this.#subscribeAfter(0);
    this.#report();
  }

  // After sleep a connection may be dead without an event, and pending delays are pointless.
  readonly #wake = (): void => {
    if (this.#access.environment.document?.visibilityState !== 'hidden') this.retry();
  };

  #end(error: WatchError): void {
    if (this.#closed) return;
    this.close();
    this.#options.onEnd?.(error);
  }

  // Calls onConnection if the connection's state has changed.
  #report(): void {
    if (this.#closed) return;
    const { failures } = this.#reader;
    if (failures > 1 || (!this.#live && this.#link.failures > 1)) this.#offline = true;
    else if (this.#live && failures === 0) this.#offline = false;
    const state = this.#offline ? 'offline' : this.#live ? 'live' : 'connecting';
    const retryAt = state === 'live' ? null : this.#timers.next('connect', 'subscribe', 'read');
    if (state === this.#reported.state && retryAt === this.#reported.retryAt) return;
    this.#reported = { state, retryAt };
    this.#options.onConnection?.(this.#reported);
  }

  // Shows changes and takes the next step that the state requires.
  #update(): void {
    if (this.#closed) return;
    const state = this.#state;
    if (this.#shown !== state.version && !state.needsThread) {
      this.#shown = state.version;
      this.#options.onChange(state.show());
    }
    if (this.#closed) return; // in onChange
    if (state.deleted) {
      this.#end(new RethreadError(410, { problem: { detail: 'The session was deleted.' } }));
    } else if (state.needsThread) {
      this.#reader.read();
      return;
    }
    const { repairAt } = state;
    const due = repairAt !== null && repairAt <= Date.now();
    const { current } = this.#link;
    if (current && (this.#subscribedOn !== current || due)) {
      this.#subscribe(current);
    } else if (repairAt !== null) {
      this.#timers.schedule('repair', repairAt - Date.now(), () => this.#update());
    }
  }

  #subscribe(connection: Connection): void {
    if (connection.busy || this.#timers.has('subscribe')) return;
    this.#subscribedOn = connection;
    connection.subscribe(this.#access.sessionId, this.#state.cursor);
    this.#state.repairing(Date.now());
  }

  #subscribeAfter(delay: number): void {
    this.#timers.schedule('subscribe', delay, () => {
      this.#subscribedOn = null;
      this.#update();
    });
  }

  #subscribed(connection: Connection): void {
    this.#link.failures = 0;
    const changed = this.#endReason !== undefined;
    this.#endReason = undefined;
    if (changed) this.#options.onAccess?.();
    this.#live ||= this.#link.current === connection;
    this.#report();
    this.#update();
  }

  #refused(error: RethreadError): void {
    if (isFinal(error)) {
      this.#end(Object.assign(error, { reason: this.#endReason }));
      return;
    }
    this.#subscribeAfter(this.#link.failed());
    this.#report();
  }

  // The access behind the subscription has ended. Subscribing once more shows whether the caller
  // still has access in another way.
  #unsubscribed(reason: WatchError['reason']): void {
    this.#endReason = reason;
    this.#subscribeAfter(this.#link.failed());
  }

  #lost(current: boolean): void {
    this.#state.lost();
    if (!current) return;
    this.#subscribedOn = null;
    this.#live = false;
  }
}
