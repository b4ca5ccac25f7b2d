// The tree of forks as `useTree` shows it.

import type { Rethread } from '../client.js';
import type { Branch } from '../types.js';
import { Polling } from './polling.js';
import { Store } from './store.js';

export interface TreeState {
  /** The oldest session of the tree; null until it is known. */
  root: Branch | null;
  /** Why the tree could not be read; null once it could. */
  error: unknown;
}

export const NO_TREE: TreeState = { root: null, error: null };

export class TreeStore extends Store<TreeState> {
  readonly #client: Rethread;
  readonly #id: string;
  readonly #polling: Polling;
  #request = 0; // number of the newest; responses to older ones are ignored

  constructor(client: Rethread, id: string) {
    super(NO_TREE);
    this.#client = client;
    this.#id = id;
    this.#polling = new Polling(client, () => this.#read());
  }

  protected start(): void {
    this.#polling.start();
  }

  protected stop(): void {
    this.#polling.stop();
    this.#request++;
  }

  async refresh(): Promise<void> {
    if (this.running) await this.#polling.now();
  }

  /** Reads soon, because another client may have changed something. */
  soon(): void {
    this.#polling.soon();
  }

  async #read(): Promise<void> {
    const request = ++this.#request;
    try {
      const root = await this.#client.sessions.forks(this.#id);
      if (request === this.#request) this.set({ root, error: null });
    } catch (error) {
      if (request === this.#request) this.set({ error });
    }
  }
}

/** All sessions of a tree, each before its forks. */
export function flatten(branch: Branch | null): Branch[] {
  return branch ? [branch, ...branch.children.flatMap(flatten)] : [];
}

/**
 * The sessions that go on differently from an item of a session: the one that others were forked
 * from there, and these forks; empty if there are none. At the first item of a fork's own, that is
 * the point where it was forked.
 */
export function alternatives(
  root: Branch | null,
  session: string,
  item: { invocation_id: string; seq: number },
): Branch[] {
  const line = lineage(root, session);
  const current = line.at(-1);
  const own = current && item.seq === current.forked_at_seq + 1;
  const boundary = (own && current.rewind_before_invocation_id) || item.invocation_id;
  const at = (branch: Branch) => branch.rewind_before_invocation_id === boundary;
  const origin = line.reverse().find(({ children }) => children.some(at));
  return origin ? [origin, ...origin.children.filter(at)].filter(({ deleted }) => !deleted) : [];
}

/** The sessions from the root of a tree to one of its sessions; empty if it is not in the tree. */
function lineage(branch: Branch | null, id: string): Branch[] {
  if (!branch || branch.id === id) return branch ? [branch] : [];
  const below = branch.children.map((child) => lineage(child, id)).find(({ length }) => length > 0);
  return below ? [branch, ...below] : [];
}
