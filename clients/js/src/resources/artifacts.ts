// Artifacts: files of a conversation, with versions.

import type { List } from '../http/list.js';
import type { CallOptions } from '../http/transport.js';
import type { ArtifactVersion, Query } from '../types.js';
import { Resource } from './resource.js';

const ARTIFACTS = '/sessions/{}/artifacts';

/** The content of a new version, and its metadata. */
export interface ArtifactUpload {
  /** The content, up to 10 MB. Content that is larger than a request must be compressible. */
  content: Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | string;
  /** The media type; by default that of a Blob, `text/plain` for a string, or bytes. */
  type?: string;
  /** Appends an event of this invocation that names the version, so that rewinds include it. */
  invocation_id?: string;
}

export class Artifacts extends Resource {
  /** The newest version of each artifact. */
  list(
    sessionId: string,
    query?: Query<'listArtifacts'>,
    options?: CallOptions,
  ): List<ArtifactVersion> {
    return this.entries(ARTIFACTS, [sessionId], query, options);
  }

  /** The readable versions of an artifact, oldest first. */
  versions(
    sessionId: string,
    name: string,
    query?: Query<'listArtifactVersions'>,
    options?: CallOptions,
  ): List<ArtifactVersion> {
    return this.entries(`${ARTIFACTS}/{}/versions`, [sessionId, name], query, options);
  }

  /** The content of a version, by default the newest. */
  get(
    sessionId: string,
    name: string,
    query?: Query<'getArtifact'>,
    options?: CallOptions,
  ): Promise<Blob> {
    return this.transport.call(
      { method: 'GET', path: `${ARTIFACTS}/{}`, params: [sessionId, name], query, repeat: 'safe' },
      (response) => response.blob(),
      options,
    );
  }

  /**
   * Stores a version. A repeat would store another one, so this is repeated only if the server has
   * refused it; after a ConnectionError or TimeoutError, `list` shows whether it was stored.
   */
  put(
    sessionId: string,
    name: string,
    { content, type, invocation_id }: ArtifactUpload,
    options?: CallOptions,
  ): Promise<ArtifactVersion> {
    const blob = content instanceof Blob ? content : new Blob([content]);
    const plain = typeof content === 'string' ? 'text/plain; charset=utf-8' : blob.type;
    return this.data(
      {
        method: 'PUT',
        path: `${ARTIFACTS}/{}`,
        params: [sessionId, name],
        query: { invocation_id },
        bytes: blob,
        headers: { 'Content-Type': type || plain || 'application/octet-stream' },
        repeat: 'refused',
      },
      options,
    );
  }

  delete(sessionId: string, name: string, options?: CallOptions): Promise<void> {
    const params = [sessionId, name];
    return this.done(
      { method: 'DELETE', path: `${ARTIFACTS}/{}`, params, repeat: 'delete' },
      options,
    );
  }
}
