// Watches the sessions of a deployment, with what all of them share.

import { Transport, type TransportOptions } from '../http/transport.js';
import type { Event } from '../types.js';
import type { WatchedItem } from './message.js';
import type { Access, Environment, Watching, WatchOptions } from './options.js';
import { readThreadPage } from './page.js';
import { SessionWatch } from './watching.js';

export interface WatcherOptions extends TransportOptions {
  /** Replacements of globals. Node.js 20 has no WebSocket of its own. */
  environment?: Environment;
}

/** Watches sessions of a deployment, for one user at a time: the part of a client that `watch` needs. */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #transport: Transport;
  readonly #watching = new Set<Watching>();

  /** @param transport that of a client, which is otherwise made of the options */
  constructor(options: WatcherOptions, transport = new Transport(options)) {
    this.#options = options;
    this.#transport = transport;
  }

  /**
   * Watches a session live until `close` or a final error. It retries all other failures, and
   * reconnects when the page becomes visible or the network returns. It throws a TypeError where
   * there is no WebSocket.
   */
  watch<Item = Event>(sessionId: string, options: WatchOptions<Item>): Watching {
    const watch = new SessionWatch(
      this.#access(sessionId, () => this.#watching.delete(watch)),
      options as unknown as WatchOptions<WatchedItem>,
    );
    this.#watching.add(watch);
    watch.start();
    return watch;
  }

  /** Ends all watching; no connection, timer or listener remains. */
  close(): void {
    for (const watch of this.#watching) watch.close();
  }

  #access(sessionId: string, closed: () => void): Access {
    const { environment, user } = this.#options;
    const { WebSocket, ...page } = { ...globals(), ...environment };
    if (!WebSocket) {
      const how = 'pass a class as environment: { WebSocket } to the client';
      throw new TypeError(`watching needs a WebSocket, which is not built in here: ${how}`);
    }
    const transport = this.#transport;
    return {
      sessionId,
      socketUrl: (signal) => transport.addresses.socket(transport.ask, signal),
      tokens: transport.tokens,
      user,
      random: transport.random,
      environment: { ...page, WebSocket },
      read: (query, signal) =>
        readThreadPage(
          transport,
          {
            method: 'GET',
            path: '/sessions/{}/thread',
            params: [sessionId],
            query,
            repeat: 'safe',
            attempts: 1,
          },
          { signal },
        ),
      closed,
    };
  }
}

/** The globals of the environment that watching uses. */
export function globals(): Environment {
  const { WebSocket, document, window } = globalThis as Environment;
  return { WebSocket, document, window };
}
