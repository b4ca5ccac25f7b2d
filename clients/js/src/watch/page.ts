// A page of a session's thread.

import type { Call, Transport, WriteOptions } from '../http/transport.js';
import type { Thread, ThreadPage } from '../types.js';

/** Makes a call that is answered with a thread. */
export async function readThreadPage(
  transport: Transport,
  call: Call,
  options?: WriteOptions,
): Promise<ThreadPage> {
  type Answer = { data: Thread; meta?: { next_cursor: string | null } };
  const { data, meta } = await transport.call<Answer>(call, (r) => r.json(), options);
  return { ...data, next_cursor: meta?.next_cursor ?? null };
}
