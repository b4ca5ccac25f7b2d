// Runs: start and cancel.

import { type Api, body, once } from './client';
import type { components } from './schema';
import { at } from './sessions';
import type { InputEvent, Thread } from './types';

type Schemas = components['schemas'];

/** Starts a run of the session's agent; a conflict (409) while another run is active. */
export async function startRun(
  api: Api,
  session: string,
  input: InputEvent[],
  key: string,
): Promise<Thread> {
  const asked = api.POST('/sessions/{session_id}/runs', {
    params: { ...at(session), header: once(key) },
    body: {
      input: input as Schemas['InputEvent'][],
      on_active: 'reject',
      mode: 'agent',
      on_failed: 'discard',
    },
  });
  return (await body(asked)).data;
}

/** Cancels a run; a finished one does not change. */
export async function cancelRun(api: Api, session: string, run: string): Promise<Thread> {
  const path = { session_id: session, run_id: run };
  const asked = api.POST('/sessions/{session_id}/runs/{run_id}/cancel', { params: { path } });
  return (await body(asked)).data;
}
