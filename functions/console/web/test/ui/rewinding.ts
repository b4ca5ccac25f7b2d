// Answers of the fake API to a rewind, and of what it would change.

import { saying, type World } from './world';

interface Effect {
  /** State as it is, by prefixed key. */
  now: Record<string, unknown>;
  /** What a rewind restores; null where it removes. */
  restored: Record<string, unknown>;
  /** The newest version of each artifact. */
  versions?: Record<string, number>;
  /** The versions that a rewind makes. */
  artifacts?: Record<string, number>;
}

export function rewinding(api: World, id: string, effect: Effect): void {
  const { now, restored, versions = {}, artifacts = {} } = effect;
  api.on('POST /sessions/{session_id}/rewind', () => {
    const session = { ...api.session(id) };
    const [first] = api.log(id);
    if (!first) throw new Error('there is nothing to rewind');
    const event = { ...first, ...saying('system', ''), id: api.id('marker'), seq: 99 };
    const data = { event, session, restored: { state: restored, artifacts }, conflicts: [] };
    return [200, { data } as never];
  });
  api.on('GET /sessions/{session_id}/state', () => {
    return [200, { data: { session: {}, user: {}, app: {}, merged: now } } as never];
  });
  api.on('GET /sessions/{session_id}/artifacts', () => {
    const data = Object.entries(versions).map(([name, version]) => ({
      name,
      version,
      mime_type: 'text/plain',
      size: 1,
      created_time: 1,
    }));
    return [200, { data, meta: { next_cursor: null } } as never];
  });
}
