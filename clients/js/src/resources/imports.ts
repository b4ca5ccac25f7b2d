// Imports of exported sessions, in one part or several.

import type { CallOptions, WriteOptions } from '../http/transport.js';
import type { ImportProgress, Session } from '../types.js';
import { Resource } from './resource.js';

/** The result of a part: the session if it was the last one, else the progress. */
export type Imported =
  | { complete: true; session: Session; kept: string[] }
  | { complete: false; progress: ImportProgress };

type Answer = { data: Session | ImportProgress; meta?: { kept: string[] } };

export class Imports extends Resource {
  /**
   * Imports a document, or its first part.
   * @param query `id`: the session's id; by default that of the document
   */
  async start(
    document: unknown,
    query?: { id?: string },
    options?: WriteOptions,
  ): Promise<Imported> {
    const answer = await this.body<Answer>(
      { method: 'POST', path: '/sessions/import', query, json: document, repeat: 'key' },
      options,
    );
    return imported(answer);
  }

  /** Imports the part with a number, `next_part` of the progress. Sending a part again changes nothing. */
  async part(id: string, part: number, document: object, options?: CallOptions): Promise<Imported> {
    const params = [id, part];
    const path = '/sessions/import/{}/parts/{}';
    const answer = await this.body<Answer>(
      { method: 'POST', path, params, json: document, repeat: 'safe' },
      options,
    );
    return imported(answer);
  }

  /** Cancels an import and removes its parts. */
  abandon(id: string, options?: CallOptions): Promise<void> {
    return this.done(
      { method: 'DELETE', path: '/sessions/import/{}', params: [id], repeat: 'delete' },
      options,
    );
  }
}

function imported({ data, meta }: Answer): Imported {
  if ('import_id' in data) return { complete: false, progress: data as ImportProgress };
  return { complete: true, session: data as Session, kept: meta?.kept ?? [] };
}
