// Sessions: the list, and each one's name and end.

import type { Api } from './client';
import type { ListedSession, Page, Session } from './types';

export interface ListOptions {
  q?: string | undefined;
  /** Where to look for the words of `q`; in the names unless given. */
  in?: 'messages' | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
  /** Lists the sessions that others share with the user, instead of the user's own. */
  shared?: boolean | undefined;
}

export async function listSessions(
  api: Api,
  { shared, ...rest }: ListOptions,
  signal?: AbortSignal,
): Promise<Page<ListedSession>> {
  const query = { ...rest, ...(shared && { shared: 'true' as const }) };
  const { data, next_cursor } = await api.sessions.list(query, signal && { signal });
  return { data, next: next_cursor };
}

/** @param agent the agent of its runs; '' for the default one */
export function createSession(api: Api, name: string, agent = ''): Promise<Session> {
  return api.sessions.create(agent ? { name, agent } : { name });
}

export function readSession(api: Api, id: string): Promise<Session> {
  return api.sessions.get(id);
}

export function renameSession(api: Api, id: string, name: string): Promise<Session> {
  return api.sessions.update(id, { name });
}

export function deleteSession(api: Api, id: string): Promise<void> {
  return api.sessions.delete(id);
}
