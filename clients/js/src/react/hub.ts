// The stores of a client, so that components on one session share one connection.

import type { Rethread } from '../client.js';
import { type SessionsQuery, SessionsStore } from './sessions.js';
import { ThreadStore } from './thread.js';
import { TreeStore } from './tree.js';

export class Hub {
  readonly #client: Rethread;
  readonly #threads = new Map<string, ThreadStore>();
  readonly #sessions = new Map<string, SessionsStore>();
  readonly #trees = new Map<string, TreeStore>();

  constructor(client: Rethread) {
    this.#client = client;
  }

  thread(id: string): ThreadStore {
    return known(
      this.#threads,
      id,
      () => new ThreadStore(this.#client, id, this.#changed, this.#noticed),
    );
  }

  sessions(query: SessionsQuery): SessionsStore {
    const key = JSON.stringify(Object.entries(query).sort());
    return known(this.#sessions, key, () => new SessionsStore(this.#client, query, this.#changed));
  }

  tree(id: string): TreeStore {
    return known(this.#trees, id, () => new TreeStore(this.#client, id));
  }

  /** Reads what a change of a session may have changed elsewhere. */
  readonly #changed = (): void => {
    for (const store of [...this.#sessions.values(), ...this.#trees.values()]) void store.refresh();
  };

  /** Like #changed, for a change by any client, of which there may be many. */
  readonly #noticed = (): void => {
    for (const store of [...this.#sessions.values(), ...this.#trees.values()]) store.soon();
  };
}

function known<T>(stores: Map<string, T>, key: string, create: () => T): T {
  const store = stores.get(key) ?? create();
  stores.set(key, store);
  return store;
}
