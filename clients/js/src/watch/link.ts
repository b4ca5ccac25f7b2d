// Keeps a connection open: connects again after failures, and before the gateway would close it.

import { Connection, type Handlers } from './connection.js';
import { type Access, isFinal, type WatchError } from './options.js';
import { backoff, type Timers } from './timers.js';

const RENEW_AFTER = 110 * 60_000; // milliseconds; the gateway closes a connection after 2 hours
const LINGER = 30_000; // milliseconds that an old connection stays open beside its successor

interface LinkHandlers extends Pick<Handlers, 'message' | 'unreadable' | 'refused'> {
  /** Another connection is the current one, or there is none. */
  update(): void;
  /** The number of failures, or the time of the next attempt, has changed. */
  report(): void;
  subscribed(connection: Connection): void;
  /** No attempt can succeed. */
  end(error: WatchError): void;
  /** The access behind a subscription has ended. */
  unsubscribed(connection: Connection, reason: 'revoked' | 'expired'): void;
  /** A connection was lost. @param current whether it was the current one */
  lost(current: boolean): void;
}

export class Link {
  /** Failures to connect or subscribe, in a row. */
  failures = 0;
  #current: Connection | null = null;
  readonly #access: Pick<Access, 'socketUrl' | 'tokens' | 'user' | 'environment' | 'random'>;
  readonly #timers: Timers;
  readonly #handlers: LinkHandlers;
  readonly #connections = new Set<Connection>(); // also those that are not open yet, or not any more
  #rejected = ''; // the token that the server has rejected, until another one is used
  #suspected = false; // whether another token was tried since a connection was open
  #connecting = false;
  readonly #gone = new AbortController();

  constructor(
    access: Pick<Access, 'socketUrl' | 'tokens' | 'user' | 'environment' | 'random'>,
    timers: Timers,
    handlers: LinkHandlers,
  ) {
    this.#access = access;
    this.#timers = timers;
    this.#handlers = handlers;
  }

  /** The connection that is used; null while there is none. */
  get current(): Connection | null {
    return this.#current;
  }

  /** Counts a failure, and returns the delay before the next attempt. */
  failed(): number {
    return backoff(this.failures++, { random: this.#access.random });
  }

  close(): void {
    this.#gone.abort();
    for (const connection of this.#connections) connection.close();
  }

  /** Connects at once, or finds out whether the connection still works. */
  retry(): void {
    if (this.#current) this.#current.ping();
    else void this.connect();
  }

  async connect(): Promise<void> {
    this.#timers.cancel('connect');
    if (this.#connecting || this.#gone.signal.aborted) return;
    this.#connecting = true;
    try {
      const found = this.#access.socketUrl(this.#gone.signal);
      const url = typeof found === 'string' ? found : await found;
      const token = await this.#access.tokens.get(this.#rejected);
      if (!this.#gone.signal.aborted) this.#open(url, token);
    } catch (error) {
      if (isFinal(error)) this.#handlers.end(error);
      else this.#connectLater();
    } finally {
      this.#connecting = false;
    }
  }

  #connectLater(): void {
    if (!this.#gone.signal.aborted)
      this.#timers.schedule('connect', this.failed(), () => this.connect());
    this.#handlers.report();
  }

  #open(address: string, token: string): void {
    const { WebSocket } = this.#access.environment;
    const url = new URL(address);
    url.searchParams.set('token', token);
    if (this.#access.user) url.searchParams.set('user', this.#access.user);
    const handlers = this.#handlers;
    let opened = false;
    const connection = new Connection(new WebSocket(url), {
      open: () => {
        opened = true;
        this.#takeOver(connection);
      },
      subscribed: () => handlers.subscribed(connection),
      message: (message) => handlers.message(message),
      unreadable: () => handlers.unreadable(),
      unsubscribed: (reason) => handlers.unsubscribed(connection, reason),
      refused: (error) => handlers.refused(error),
      unauthorized: () => {
        this.#rejected = token;
      },
      closed: () => {
        if (!opened) this.#suspect(token);
        this.#disconnected(connection);
      },
    });
    this.#connections.add(connection);
  }

  // The new connection takes over when it is open, and the old one is closed only later, so that no
  // message is lost in between.
  #takeOver(connection: Connection): void {
    const old = this.#current;
    this.#suspected = false;
    if (old) this.#timers.schedule('linger', LINGER, () => old.close());
    this.#current = connection;
    this.#rejected = '';
    const renewal = RENEW_AFTER - this.#access.random() * LINGER;
    this.#timers.schedule('renew', renewal, () => this.connect());
    this.#handlers.update();
  }

  // A handshake that is refused looks like a server that cannot be reached. After the second failure
  // another token is tried, once until a connection opens.
  #suspect(token: string): void {
    if (this.failures === 0 || this.#suspected) return;
    this.#suspected = true;
    this.#rejected = token;
  }

  #disconnected(connection: Connection): void {
    this.#connections.delete(connection);
    const current = this.#current === connection;
    if (current) this.#current = null;
    this.#handlers.lost(current);
    if (!this.#current) this.#connectLater();
    this.#handlers.update();
  }
}
