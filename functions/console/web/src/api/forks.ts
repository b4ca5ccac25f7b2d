// Forks: going on from an earlier point in a session of its own.

import { type Api, body, once } from './client';
import { at } from './sessions';
import type { Branch, Session } from './types';

export interface ForkOptions {
  /** The first invocation that the fork leaves out; null takes over everything. */
  before: string | null;
  /** What it is called; '' leaves that to the server. */
  name: string;
}

/** Forks a session; the key makes it safe to repeat. A boundary that is gone is an error (400). */
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

/** The tree of forks that a session belongs to, from its root. */
export async function readForks(api: Api, session: string): Promise<Branch> {
  return (await body(api.GET('/sessions/{session_id}/forks', { params: at(session) }))).data;
}
