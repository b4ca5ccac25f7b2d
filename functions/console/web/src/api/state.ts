// The current state of a session.

import type { Api } from './client';
import type { State } from './types';

export function readState(api: Api, session: string): Promise<State> {
  return api.state.get(session);
}
