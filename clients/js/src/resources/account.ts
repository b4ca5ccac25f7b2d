// Shares, and what belongs to the user: usage and the deletion of all data.

import type { List } from '../http/list.js';
import type { CallOptions, WriteOptions } from '../http/transport.js';
import type { components } from '../schema.js';
import type { Query, Share, ShareRequest, Usage } from '../types.js';
import { Resource } from './resource.js';

type Schemas = components['schemas'];

/** The deletion of all of a user's data. */
export type Erasure = Schemas['ErasureAnswer']['data'];

/** Access by an accepted share. */
export type Accepted = Schemas['AcceptedAnswer']['data'];

export class Shares extends Resource {
  list(sessionId: string, query?: Query<'listShares'>, options?: CallOptions): List<Share> {
    return this.entries('/sessions/{}/shares', [sessionId], query, options);
  }

  /** Shares a session. The answer to the first attempt has the token of a link; a repeat has none. */
  create(sessionId: string, share: ShareRequest, options?: WriteOptions): Promise<Share> {
    const path = '/sessions/{}/shares';
    return this.data(
      { method: 'POST', path, params: [sessionId], json: share, repeat: 'key' },
      options,
    );
  }

  revoke(sessionId: string, id: string, options?: CallOptions): Promise<void> {
    const path = '/sessions/{}/shares/{}';
    return this.done(
      { method: 'DELETE', path, params: [sessionId, id], repeat: 'delete' },
      options,
    );
  }

  /** Accepts the token of a link. Accepting it twice changes nothing. */
  accept(token: string, options?: CallOptions): Promise<Accepted> {
    return this.data(
      { method: 'POST', path: '/shares/accept', json: { token }, repeat: 'safe' },
      options,
    );
  }
}

export class Me extends Resource {
  usage(options?: CallOptions): Promise<Usage> {
    return this.data({ method: 'GET', path: '/me/usage', repeat: 'safe' }, options);
  }

  /** The state of the newest deletion of all data. */
  erasure(options?: CallOptions): Promise<Erasure> {
    return this.data({ method: 'GET', path: '/me/data', repeat: 'safe' }, options);
  }

  /** Deletes all data of the user. The deletion may continue after the answer. */
  erase(options?: CallOptions): Promise<Erasure> {
    return this.data({ method: 'DELETE', path: '/me/data', repeat: 'safe' }, options);
  }
}
