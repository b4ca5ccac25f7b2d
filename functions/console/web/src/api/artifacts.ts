// Artifacts: the list, versions, and content.

import { type Api, body } from './client';
import { at } from './sessions';
import type { ArtifactVersion } from './types';

const PAGE = 1000;
const PLAIN = 4 << 20; // bytes; a request may have 6 MB, and its body may be base64

/** The newest version of each artifact: the session's own, then those shared by the user's sessions. */
export function listArtifacts(api: Api, session: string): Promise<ArtifactVersion[]> {
  const params = at(session);
  return all((query) =>
    body(api.GET('/sessions/{session_id}/artifacts', { params: { ...params, query } })),
  );
}

/** The readable versions of an artifact, oldest first. */
export function listVersions(api: Api, session: string, name: string): Promise<ArtifactVersion[]> {
  const params = named(session, name);
  return all((query) =>
    body(
      api.GET('/sessions/{session_id}/artifacts/{name}/versions', { params: { ...params, query } }),
    ),
  );
}

export async function readArtifact(
  api: Api,
  session: string,
  name: string,
  version: number,
): Promise<Blob> {
  const params = { ...named(session, name), query: { version } };
  const asked = api.GET('/sessions/{session_id}/artifacts/{name}', { params, parseAs: 'blob' });
  return (await body(asked)) as Blob;
}

/**
 * Uploads a version and appends an event that names it.
 * @param invocation the event's invocation
 */
export async function putArtifact(
  api: Api,
  session: string,
  name: string,
  bytes: Blob,
  invocation: string,
): Promise<ArtifactVersion> {
  const large = bytes.size > PLAIN;
  const sent = large ? await gzip(bytes) : await bytes.arrayBuffer();
  const asked = api.PUT('/sessions/{session_id}/artifacts/{name}', {
    params: { ...named(session, name), query: { invocation_id: invocation } },
    headers: {
      'Content-Type': bytes.type || 'application/octet-stream',
      ...(large && { 'Content-Encoding': 'gzip' }),
    },
    body: '', // the generated type knows bytes only as a string
    bodySerializer: () => sent,
  });
  return (await body(asked)).data;
}

export async function deleteArtifact(api: Api, session: string, name: string): Promise<void> {
  const params = named(session, name);
  await body(api.DELETE('/sessions/{session_id}/artifacts/{name}', { params }));
}

const named = (session: string, name: string) => ({ path: { session_id: session, name } });

interface Listed {
  data: ArtifactVersion[];
  meta: { next_cursor: string | null };
}

async function all(
  page: (query: { limit: number; cursor?: string }) => Promise<Listed>,
): Promise<ArtifactVersion[]> {
  const found: ArtifactVersion[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, meta }: Listed = await page({ limit: PAGE, ...(cursor && { cursor }) });
    found.push(...data);
    cursor = meta.next_cursor;
  }
  return found;
}

function gzip(bytes: Blob): Promise<ArrayBuffer> {
  return new Response(bytes.stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
}
