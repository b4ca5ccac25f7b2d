// Turns: the messages of each invocation, and the rows of a thread.

import type { InputEvent, RunError } from '../api/types';
import { joinCalls } from './calls';
import type { Message } from './message';

export type Outcome = 'running' | 'completed' | 'failed' | 'stopped';

/** The messages of one invocation. */
export interface Turn {
  invocation: string;
  messages: Message[];
  outcome: Outcome;
  error: RunError | null;
  /** Whether it is the first turn; a rewind to before it is pointless. */
  first: boolean;
  /** Whether some of its messages may not be loaded. */
  cut: boolean;
}

/** The status of the session's run. */
export interface RunState {
  status: 'idle' | 'in_progress' | 'failed';
  run: string;
  error: RunError | null;
}

export type Row =
  /** last: whether the buttons of the turn belong to the message, see lastOf */
  | { kind: 'message'; key: string; message: Message; turn: Turn; last: boolean }
  | { kind: 'waiting'; key: string; turn: Turn }
  | { kind: 'failure'; key: string; turn: Turn };

/** @param older whether there are messages before these */
export function turnsOf(messages: readonly Message[], state: RunState, older = false): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const current = turns.at(-1);
    if (current && current.invocation === message.invocation) current.messages.push(message);
    else turns.push(begin(message, turns.length === 0, older));
  }
  for (const turn of turns) conclude(turn, state);
  return turns;
}

function begin(message: Message, first: boolean, older: boolean): Turn {
  return {
    invocation: message.invocation,
    messages: [message],
    outcome: 'completed',
    error: null,
    first: first && !older,
    cut: first && older,
  };
}

function conclude(turn: Turn, { status, run, error }: RunState): void {
  const broken = turn.messages.find((message) => message.error);
  if (turn.invocation === run && status === 'in_progress') turn.outcome = 'running';
  else if (turn.invocation === run && status === 'failed') turn.outcome = 'failed';
  else if (broken) turn.outcome = 'failed';
  else if (turn.messages.some((message) => message.stopped)) turn.outcome = 'stopped';
  if (turn.outcome === 'failed') turn.error = broken?.error ?? error;
}

/**
 * The message that bears the buttons of a turn: its newest answer, even if a file was saved for the
 * turn afterwards, or its newest message while there is no answer.
 */
export function lastOf({ messages }: Turn): Message | undefined {
  return messages.findLast(({ role }) => role === 'agent') ?? messages.at(-1);
}

/** The rows of a thread: messages, and the status after the last one of a turn. */
export function rowsOf(turns: readonly Turn[]): Row[] {
  return turns.flatMap((turn) => {
    const last = lastOf(turn);
    const rows: Row[] = joinCalls(turn.messages).map((message) => ({
      kind: 'message',
      key: message.id,
      message,
      turn,
      last: message.event === last?.event,
    }));
    if (turn.outcome === 'running' && !turn.messages.some(({ streaming }) => streaming)) {
      rows.push({ kind: 'waiting', key: `${turn.invocation} waiting`, turn });
    }
    if (turn.outcome === 'failed' && last?.role !== 'agent') {
      rows.push({ kind: 'failure', key: `${turn.invocation} failure`, turn });
    }
    return rows;
  });
}

/** A question with another text. */
interface Edited {
  /** The id of its message. */
  id: string;
  text: string;
}

/** The input of a turn, for sending it again. An edited question keeps its files. */
export function inputOf(turn: Turn, edited?: Edited): InputEvent[] {
  return turn.messages.flatMap(({ role, event }) => {
    if (role !== 'user' || !event.content) return [];
    const { author, content } = event;
    const files = event.actions?.artifact_delta as Record<string, number> | undefined;
    return {
      author,
      content: event.id === edited?.id ? withText(content, edited.text) : content,
      ...(files && { actions: { artifact_delta: files } }),
    };
  });
}

function withText(content: Record<string, unknown>, text: string): Record<string, unknown> {
  const parts: unknown[] = Array.isArray(content.parts) ? content.parts : [];
  const said = parts.findIndex(isText);
  const files = (some: unknown[]) => some.filter((part) => !isText(part));
  const first = said < 0 ? 0 : said;
  const own = text === '' ? [] : [{ text }];
  return {
    ...content,
    parts: [...files(parts.slice(0, first)), ...own, ...files(parts.slice(first))],
  };
}

const isText = (part: unknown): boolean =>
  typeof part === 'object' &&
  part !== null &&
  typeof (part as { text?: unknown }).text === 'string';
