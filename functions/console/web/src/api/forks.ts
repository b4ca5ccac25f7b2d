// Forks: new sessions that continue from an earlier point.

import type { Api } from './client';
import type { Branch, Session } from './types';

export interface ForkOptions {
  /** The first invocation left out of the fork; null forks the whole session. */
  before: string | null;
  /** Name of the fork; '' for the server's default. */
  name: string;
}

/** Forks a session; the key makes it safe to repeat. An unknown boundary is an error (400). */
export function forkSession(
  api: Api,
  session: string,
  { before, name }: ForkOptions,
  key: string,
): Promise<Session> {
  const request = { rewind_before_invocation_id: before, name: name || null, strict: true };
  return api.sessions.fork(session, request, { idempotencyKey: key });
}

/** Returns the session that a fork from before an invocation would be, without making it. */
export function previewFork(api: Api, session: string, before: string): Promise<Session> {
  const boundary = { rewind_before_invocation_id: before, strict: true };
  return api.sessions.fork(session, { ...boundary, dry_run: true });
}

/** The tree of forks of a session, from its root. */
export function readForks(api: Api, session: string): Promise<Branch> {
  return api.sessions.forks(session);
}
