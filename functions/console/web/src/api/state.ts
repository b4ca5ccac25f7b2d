// The current state of a session.

import { type Api, body } from './client';
import { at } from './sessions';
import type { State } from './types';

export async function readState(api: Api, session: string): Promise<State> {
  return (await body(api.GET('/sessions/{session_id}/state', { params: at(session) }))).data;
}
