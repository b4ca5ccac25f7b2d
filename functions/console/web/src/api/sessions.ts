// Sessions: the list, and each one's name and end.

import { type Api, body, once } from './client';
import type { Page, Session } from './types';

export interface ListOptions {
  q?: string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

export async function listSessions(api: Api, query: ListOptions): Promise<Page<Session>> {
  const { data, meta } = await body(api.GET('/sessions', { params: { query } }));
  return { data, next: meta.next_cursor };
}

export async function createSession(api: Api, name: string): Promise<Session> {
  const answer = await body(api.POST('/sessions', { params: { header: once() }, body: { name } }));
  return answer.data;
}

export async function readSession(api: Api, id: string): Promise<Session> {
  return (await body(api.GET('/sessions/{session_id}', { params: at(id) }))).data;
}

export async function renameSession(api: Api, id: string, name: string): Promise<Session> {
  const asked = api.PATCH('/sessions/{session_id}', { params: at(id), body: { name } });
  return (await body(asked)).data;
}

export async function deleteSession(api: Api, id: string): Promise<void> {
  await body(api.DELETE('/sessions/{session_id}', { params: at(id) }));
}

/** The path parameters of a session. */
export const at = (session: string) => ({ path: { session_id: session } });
