// Artifacts: the list, versions, and content.

import type { Api } from './client';
import type { ArtifactVersion } from './types';

const PAGE = { limit: 1000 };

/** The newest version of each artifact: the session's own, then those shared by the user's sessions. */
export function listArtifacts(api: Api, session: string): Promise<ArtifactVersion[]> {
  return api.artifacts.list(session, PAGE).all();
}

/** The readable versions of an artifact, oldest first. */
export function listVersions(api: Api, session: string, name: string): Promise<ArtifactVersion[]> {
  return api.artifacts.versions(session, name, PAGE).all();
}

export function readArtifact(
  api: Api,
  session: string,
  name: string,
  version: number,
): Promise<Blob> {
  return api.artifacts.get(session, name, { version });
}

/**
 * Uploads a version and appends an event that names it.
 * @param invocation the event's invocation
 */
export function putArtifact(
  api: Api,
  session: string,
  name: string,
  bytes: Blob,
  invocation: string,
): Promise<ArtifactVersion> {
  const type = bytes.type || 'application/octet-stream';
  return api.artifacts.put(session, name, { content: bytes, type, invocation_id: invocation });
}

export function deleteArtifact(api: Api, session: string, name: string): Promise<void> {
  return api.artifacts.delete(session, name);
}
