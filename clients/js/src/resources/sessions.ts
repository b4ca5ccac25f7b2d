// Sessions: conversations, their forks and rewinds.

import type { List } from '../http/list.js';
import type { CallOptions, ChangeOptions, WriteOptions } from '../http/transport.js';
import type {
  Branch,
  ForkRequest,
  ListedSession,
  Query,
  RewindRequest,
  Rewound,
  Session,
  SessionChange,
  SessionRequest,
  State,
} from '../types.js';
import { Resource } from './resource.js';

const SESSION = '/sessions/{}';

export class Sessions extends Resource {
  /** The user's sessions, newest activity first; see `exact` for their positions and times. */
  list(query?: Query<'listSessions'>, options?: CallOptions): List<ListedSession> {
    return this.entries('/sessions', [], query, options);
  }

  create(session: SessionRequest = {}, options?: WriteOptions): Promise<Session> {
    return this.data({ method: 'POST', path: '/sessions', json: session, repeat: 'key' }, options);
  }

  get(id: string, options?: CallOptions): Promise<Session> {
    return this.data({ method: 'GET', path: SESSION, params: [id], repeat: 'safe' }, options);
  }

  /** Replaces the given members. */
  update(id: string, change: SessionChange, options?: ChangeOptions): Promise<Session> {
    return this.data(
      { method: 'PATCH', path: SESSION, params: [id], json: change, repeat: 'safe' },
      options,
    );
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.done({ method: 'DELETE', path: SESSION, params: [id], repeat: 'delete' }, options);
  }

  /** Creates a session that continues from an earlier point of this one, or from its end. */
  fork(id: string, request: ForkRequest = {}, options?: WriteOptions): Promise<Session> {
    return this.data(
      {
        method: 'POST',
        path: `${SESSION}/fork`,
        params: [id],
        json: request,
        repeat: once(request),
      },
      options,
    );
  }

  /** The tree of forks that a session belongs to, from its root. Reads all pages. */
  async forks(id: string, options?: CallOptions): Promise<Branch> {
    type Answer = { data: Branch; meta?: { next_cursor: string | null } };
    let root: Branch | undefined;
    for (let cursor: string | undefined; ; ) {
      const { data, meta }: Answer = await this.body<Answer>(
        {
          method: 'GET',
          path: `${SESSION}/forks`,
          params: [id],
          query: { cursor },
          repeat: 'safe',
        },
        options,
      );
      if (root) add(root, data);
      else root = data;
      if (!meta?.next_cursor) return root;
      cursor = meta.next_cursor;
    }
  }

  /** Restores a session as it was before an invocation. */
  rewind(id: string, request: RewindRequest, options?: WriteOptions): Promise<Rewound> {
    return this.data(
      {
        method: 'POST',
        path: `${SESSION}/rewind`,
        params: [id],
        json: request,
        repeat: once(request),
      },
      options,
    );
  }

  /** Gives up access to a session that another user shares. */
  leave(id: string, options?: CallOptions): Promise<void> {
    return this.done(
      { method: 'DELETE', path: `${SESSION}/access`, params: [id], repeat: 'delete' },
      options,
    );
  }

  /**
   * Returns the response with the session as one document, which may be large and is incomplete
   * without `"complete": true` at its end. Its body is read without a time limit.
   */
  export(id: string, options?: CallOptions): Promise<Response> {
    return this.transport.call(
      {
        method: 'GET',
        path: `${SESSION}/export`,
        params: [id],
        repeat: 'safe',
        base: 'stream',
        stream: true,
      },
      async (response) => response,
      options,
    );
  }
}

/** A dry run changes nothing, and a key would have its answer stored. */
const once = ({ dry_run }: { dry_run?: boolean | null }) => (dry_run ? 'safe' : 'key');

/** The state that results from a session's events. */
export class States extends Resource {
  get(sessionId: string, options?: CallOptions): Promise<State> {
    return this.data(
      { method: 'GET', path: `${SESSION}/state`, params: [sessionId], repeat: 'safe' },
      options,
    );
  }
}

// Adds the next page of a tree, which repeats the sessions that lead to its first new one.
function add(root: Branch, page: Branch): void {
  let into = root;
  for (let next = page; ; ) {
    const [first, ...rest] = next.children;
    const last = into.children.at(-1);
    if (!first || last?.id !== first.id || last.created_time !== first.created_time) {
      into.children.push(...next.children);
      return;
    }
    into.children.push(...rest);
    into = last;
    next = first;
  }
}
