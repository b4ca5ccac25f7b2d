// Starts the run that gets the answers to questions. Others, or the same user in another tab, may answer
// at the same time, and the agent must get one answer.

import { ConflictError } from 'rethread';
import { type Api, uid } from '../api/client';
import { readEnd, startRun } from '../api/runs';
import type { InputEvent, Thread } from '../api/types';
import { Messages, respondsTo } from './message';

/** The calls of an invocation that wait for a person. */
export interface Waiting {
  invocation: string;
  calls: ReadonlySet<string>;
}

/** Says why questions cannot be answered any more. */
export class Closed extends Error {}

/** Says that somebody has answered them, which the watch may report later. */
export class Answered extends Closed {}

const NEWEST = 100; // items that are read to see whether the questions are open
const TRIES = 3; // the log may go on although the questions stay open
const ANSWERED = 'The question has already been answered. Your answer was not sent.';
const GONE_ON = 'The chat has gone on since the question. Your answer was not sent.';

/** Rejects with Closed if the questions are not open any more. */
export async function startAnswered(
  api: Api,
  session: string,
  waiting: Waiting,
  input: InputEvent[],
  agent: string,
): Promise<Thread> {
  for (let tries = 1; ; tries++) {
    const end = await readEnd(api, session, NEWEST);
    const closed = whyClosed(end, waiting);
    if (closed) throw closed;
    try {
      const expectedSeq = end.session.head_seq;
      const options = { key: uid(), active: 'reject', agent, expectedSeq } as const;
      return await startRun(api, session, input, options);
    } catch (error) {
      if (!(error instanceof ConflictError) || tries === TRIES) throw error;
    }
  }
}

// Other input of a user, even if it waits, closes the questions: the agent takes them for cancelled.
function whyClosed(
  { session, items, queued = [] }: Thread,
  { invocation, calls }: Waiting,
): Closed | null {
  if (items.some((item) => respondsTo(item, calls))) return new Answered(ANSWERED);
  const last = new Messages().of(items).at(-1)?.invocation;
  const open = last === invocation && session.active_run_id === null && queued.length === 0;
  return open ? null : new Closed(GONE_ON);
}
