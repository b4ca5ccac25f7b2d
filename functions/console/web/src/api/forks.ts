// Forks: new sessions that continue from an earlier point.

import { type Api, body, once } from './client';
import { at } from './sessions';
import type { Branch, Session } from './types';

export interface ForkOptions {
  /** The first invocation left out of the fork; null forks the whole session. */
  before: string | null;
  /** Name of the fork; '' for the server's default. */
  name: string;
}

/** Forks a session; the key makes it safe to repeat. An unknown boundary is an error (400). */
export async function forkSession(
  api: Api,
  session: string,
  { before, name }: ForkOptions,
  key: string,
): Promise<Session> {
  const asked = api.POST('/sessions/{session_id}/fork', {
    params: { ...at(session), header: once(key) },
    body: { rewind_before_invocation_id: before, name: name || null, strict: true },
  });
  return (await body(asked)).data;
}

/** The tree of forks of a session, from its root. */
export async function readForks(api: Api, session: string): Promise<Branch> {
  return (await body(api.GET('/sessions/{session_id}/forks', { params: at(session) }))).data;
}
