// The hooks of `rethread/react`.

import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import type { Rethread } from '../client.js';
import type {
  Branch,
  InputEvent,
  RewindRequest,
  Rewound,
  Session,
  SessionRequest,
} from '../types.js';
import { Hub } from './hub.js';
import type { ThreadItem } from './pending.js';
import { NO_SESSIONS, type SessionsQuery, type SessionsState } from './sessions.js';
import type { Store } from './store.js';
import { EMPTY, type ThreadState } from './thread.js';
import { alternatives, flatten, NO_TREE, type TreeState } from './tree.js';

export type { SessionsQuery, SessionsState } from './sessions.js';
export type { ThreadState } from './thread.js';
export type { TreeState } from './tree.js';
export type { ThreadItem };

const Context = createContext<Hub | null>(null);

export interface RethreadProviderProps {
  /**
   * The client of the signed-in user, the same object in each render; null while nobody is signed in.
   * When it changes, nothing of the former one is shown. Call its `close` when the user signs out. All
   * components of a client share its connections, also below different providers.
   */
  client: Rethread | null;
  children?: ReactNode;
}

export function RethreadProvider({ client, children }: RethreadProviderProps) {
  const hub = useMemo(() => client?.shared(Hub, () => new Hub(client)) ?? null, [client]);
  return createElement(Context.Provider, { value: hub }, children);
}

export interface UseThread extends ThreadState {
  /**
   * Sends a text or events. They are shown at once; while a run is in progress they wait in `queued`.
   * Rejects if the server refuses them.
   */
  send(input: string | InputEvent[]): Promise<void>;
  /** Cancels the run in progress, or the run of a queued input. */
  stop(run?: string): Promise<void>;
  /** Restores the session as it was before an invocation; a run in progress is cancelled. */
  rewind(before: string, options?: Partial<RewindRequest>): Promise<Rewound>;
  /** Creates a session that continues from before an invocation, or from the end. */
  fork(before?: string, name?: string): Promise<Session>;
  /** Loads earlier items. */
  older(): Promise<void>;
  /** Connects at once instead of at `connection.retryAt`. */
  reconnect(): void;
}

/**
 * A session, live. Components on the same session share one connection. Without an id it waits for
 * one: nothing is read, and the actions reject.
 */
export function useThread(sessionId: string): UseThread {
  const hub = useContext(Context);
  const store = useMemo(() => (sessionId ? hub?.thread(sessionId) : undefined), [hub, sessionId]);
  const state = useStore(store, EMPTY);
  const actions = useMemo(
    () => ({
      send: async (input: string | InputEvent[]) => signedIn(store).send(input),
      stop: async (run?: string) => signedIn(store).cancel(run),
      rewind: async (before: string, options?: Partial<RewindRequest>) =>
        signedIn(store).rewind(before, options),
      fork: async (before?: string, name?: string) => signedIn(store).fork(before, name),
      older: async () => signedIn(store).older(),
      reconnect: () => store?.reconnect(),
    }),
    [store],
  );
  return { ...state, ...actions };
}

export interface UseSessions extends SessionsState {
  /** Loads further sessions. */
  more(): Promise<void>;
  refresh(): Promise<void>;
  create(session?: SessionRequest): Promise<Session>;
  rename(id: string, name: string): Promise<Session>;
  remove(id: string): Promise<void>;
}

/** The user's sessions, read again every ten seconds while the page is visible. */
export function useSessions(query: SessionsQuery = {}): UseSessions {
  const hub = useContext(Context);
  const key = JSON.stringify(query);
  const store = useMemo(() => hub?.sessions(JSON.parse(key)), [hub, key]);
  const state = useStore(store, NO_SESSIONS);
  const actions = useMemo(
    () => ({
      more: async () => signedIn(store).more(),
      refresh: async () => store?.refresh(),
      create: async (session?: SessionRequest) => signedIn(store).create(session),
      rename: async (id: string, name: string) => signedIn(store).rename(id, name),
      remove: async (id: string) => signedIn(store).remove(id),
    }),
    [store],
  );
  return { ...state, ...actions };
}

export interface UseTree extends TreeState {
  /** All sessions of the tree, each before its forks. */
  branches: Branch[];
  /** The id of the chosen session, for `useThread`. */
  current: string;
  /** Chooses another session of the tree. */
  switchTo(id: string): void;
  /**
   * The sessions that go on differently from an item of the chosen one: the one that others were
   * forked from there, and these forks; empty if there are none.
   */
  alternatives(item: Pick<ThreadItem, 'invocation_id' | 'seq'>): Branch[];
  refresh(): Promise<void>;
}

/**
 * The tree of forks around a session, and the session of it that is chosen, at first this one. Forks and
 * names that others make are read every ten seconds while the page is visible. It waits for an id.
 */
export function useTree(sessionId: string): UseTree {
  const hub = useContext(Context);
  const [chosen, choose] = useState({ from: sessionId, id: sessionId });
  const current = chosen.from === sessionId ? chosen.id : sessionId;
  const store = useMemo(() => (sessionId ? hub?.tree(sessionId) : undefined), [hub, sessionId]);
  const state = useStore(store, NO_TREE);
  const { root } = state;
  return useMemo(
    () => ({
      ...state,
      branches: flatten(root),
      current,
      switchTo: (id: string) => choose({ from: sessionId, id }),
      alternatives: (item) => alternatives(root, current, item),
      refresh: async () => store?.refresh(),
    }),
    [state, root, current, sessionId, store],
  );
}

function useStore<State>(store: Store<State> | undefined, initial: State): State {
  return useSyncExternalStore(
    store?.subscribe ?? nothing,
    store?.get ?? (() => initial),
    store?.getInitial ?? (() => initial),
  );
}

const nothing = () => () => {};

function signedIn<T>(store: T | undefined): T {
  if (!store) throw new Error('nobody is signed in, or the hook has no id: there is no session');
  return store;
}
