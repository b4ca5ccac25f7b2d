// Converts a turn to a task: the record of what the user saw.

import type { FeedbackType } from '../api/tasks';
import type { Bubble, Task, TaskSave } from '../api/types';
import type { Block, Message } from './message';
import { textOf } from './message';
import type { Outcome, Turn } from './turns';

export interface Given {
  type: FeedbackType;
  text: string;
}

// Limits of the contract.
const MAX_BUBBLES = 100;
const LONGEST_TEXT = 100_000; // characters
const LONGEST_QUESTION = 10_000;

const STATUS: Record<Outcome, string> = {
  running: 'pending',
  completed: 'completed',
  failed: 'error',
  stopped: 'cancelled',
};

/**
 * The task of a turn.
 * @param id the id of a task of the turn that was saved before; by default the run's id
 * @param feedback feedback on the turn, which saving the task would overwrite
 */
export function taskOf(turn: Turn, id = turn.invocation, feedback?: Given): TaskSave {
  const asked = turn.messages.filter(({ role }) => role === 'user').map(textOf);
  const agent = turn.messages.find(({ role }) => role === 'agent')?.author;
  return {
    task_id: id,
    user_message: cut(asked.join('\n\n'), LONGEST_QUESTION),
    message_bubbles: bubblesOf(turn).slice(0, MAX_BUBBLES),
    task_metadata: {
      status: STATUS[turn.outcome],
      ...(agent && { agent_name: agent }),
      ...(feedback && { feedback: { ...feedback, submitted: true } }),
    },
  };
}

/** The invocation that a task records. */
export function invocationOf({ task_id, message_bubbles }: Task): string {
  for (const { metadata } of message_bubbles) {
    const named = (metadata as { kagent_invocation_id?: unknown } | undefined)
      ?.kagent_invocation_id;
    if (typeof named === 'string' && named) return named;
  }
  return task_id;
}

/** The feedback stored in a task. */
export function feedbackOf({ task_metadata }: Task): Given | null {
  const given = task_metadata?.feedback;
  if (!given) return null;
  return { type: given.type, text: typeof given.text === 'string' ? given.text : '' };
}

function bubblesOf(turn: Turn): Bubble[] {
  const bubbles = turn.messages.flatMap((message) => [
    ...said(message, turn.invocation),
    ...made(message, turn.invocation),
  ]);
  if (turn.outcome !== 'failed') return bubbles;
  const text = turn.error?.message ?? 'The agent failed and gave no reason.';
  return [
    ...bubbles,
    bubble(`${turn.invocation}-error`, 'agent', turn.invocation, { text, isError: true }),
  ];
}

function said(message: Message, invocation: string): Bubble[] {
  if (message.blocks.length === 0) return [];
  const files = message.blocks.flatMap((block) => (block.kind === 'file' ? file(block) : []));
  const plain = message.blocks.every(({ kind }) => kind === 'text');
  const type = message.role === 'user' ? 'user' : 'agent';
  return [
    bubble(message.id, type, invocation, {
      text: cut(textOf(message), LONGEST_TEXT),
      ...(!plain && { parts: message.blocks.map(partOf) }),
      ...(files.length > 0 && { files }),
    }),
  ];
}

function made({ id, event }: Message, invocation: string): Bubble[] {
  return Object.entries(event.actions?.artifact_delta ?? {}).map(([name, version]) =>
    bubble(`${id}-${name}`, 'artifact_notification', invocation, {
      artifactNotification: { name, version },
    }),
  );
}

function bubble(
  id: string,
  type: Bubble['type'],
  invocation: string,
  more: Partial<Bubble>,
): Bubble {
  return { id, type, ...more, metadata: { kagent_invocation_id: invocation } };
}

// A2A parts; blocks without an A2A form become data parts.
function partOf(block: Block): unknown {
  switch (block.kind) {
    case 'text':
      return { kind: 'text', text: block.text };
    case 'thought':
      return { kind: 'text', text: block.text, metadata: { thought: true } };
    case 'call':
      return { kind: 'data', data: { ...block.call, result: block.result ?? null } };
    case 'file':
      return { kind: 'file', file: file(block) };
  }
}

function file({ name, mime, data, uri }: Extract<Block, { kind: 'file' }>) {
  return {
    name,
    mime_type: mime,
    ...(data !== undefined && { content: data }),
    ...(uri !== undefined && { uri }),
  };
}

function cut(text: string, longest: number): string {
  const letters = text.length > longest ? Array.from(text) : []; // never half of a surrogate pair
  return letters.length > longest ? letters.slice(0, longest).join('') : text;
}
