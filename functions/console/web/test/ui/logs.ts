// The whole logs of the fake's sessions, with what only they have: the ends of runs, and rewinds.

import type { Event, Run } from '../../src/api/types';
import { problem } from './fake-api';
import type { World } from './world';

/** Serves the logs and the runs in progress. */
export function serveLogs(api: World): void {
  api.on('GET /sessions/{session_id}/events', ({ params: [id = ''], query }) => {
    if (!api.sessions.has(id)) return problem(404, 'no such session');
    const { after = '0', limit = '100', order } = query;
    const some = api.log(id).filter(({ seq }) => seq > Number(after));
    const page = order === 'desc' ? some.toReversed() : some;
    const next_cursor = page.length > Number(limit) ? 'more' : null;
    return [200, { data: page.slice(0, Number(limit)), meta: { next_cursor } }];
  });
  api.on('GET /sessions/{session_id}/runs/{run_id}', ({ params: [id = '', run = ''] }) => {
    const begun = api.log(id).find(({ invocation_id }) => invocation_id === run);
    if (!begun) return problem(404, 'no such run');
    return [200, { data: runOf(id, run, { started_time: begun.created_time }) }];
  });
}

const runOf = (session_id: string, id: string, more: Partial<Run>): Run => ({
  id,
  session_id,
  agent: 'demo',
  mode: 'agent',
  status: 'in_progress',
  error: null,
  started_time: 0,
  ended_time: null,
  ...more,
});

/** Appends the end of a run. */
export function endRun(api: World, session: string, run: string, more: Partial<Run>): void {
  const ended = runOf(session, run, { status: 'completed', ...more });
  const created_time = ended.ended_time ?? 0;
  api.append(session, run, { author: 'system', type: 'run', run: ended, created_time });
}

/** Rewinds a session to before an invocation; returns the marker. */
export function rewindTo(api: World, session: string, invocation: string): Event {
  const marker = api.append(session, api.id('rewind'), {
    author: 'system',
    actions: { rewind_before_invocation_id: invocation },
  });
  api.session(session).epoch++;
  return marker;
}

/** An event with a part. */
export const having = (author: string, ...parts: Record<string, unknown>[]): Partial<Event> => ({
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts },
});
