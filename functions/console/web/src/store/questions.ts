// Questions of the agent to the person: calls that wait for an answer, such as approvals.

import type { Event, InputEvent } from '../api/types';
import type { ToolCall } from './message';
import type { Turn } from './turns';
import { isObject, isText, objectOf } from './values';

/** What JSON Schema says about an answer, as far as a form can show it. */
export interface Schema {
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
}

export interface Question {
  /** The call that the answer belongs to. */
  id: string;
  name: string;
  /** A confirmation is approved or rejected; credentials are not for a chat. */
  kind: 'confirmation' | 'credential' | 'interrupt' | 'call';
  text: string;
  /** The call that is to be confirmed. */
  about: ToolCall | null;
  /** Answers to choose from; empty if any is possible. */
  choices: string[];
  schema: Schema | null;
}

export type Response = Record<string, unknown>;

const KINDS: Record<string, Question['kind']> = {
  adk_request_confirmation: 'confirmation',
  adk_request_credential: 'credential',
  ag_ui_interrupt: 'interrupt',
};

/** The questions of a turn that is complete, those that its agent says wait or else all open calls. */
export function questionsOf(turn: Turn | undefined): Question[] {
  if (turn?.outcome !== 'completed') return [];
  const waiting = new Set(turn.messages.flatMap(({ event }) => waitingIn(event)));
  const agents = turn.messages.filter(({ role }) => role === 'agent');
  const spoke = agents.filter(({ blocks }) => blocks.length > 0);
  const open = agents
    .flatMap(({ event, interrupted, blocks }) =>
      blocks.flatMap((block) => {
        if (block.kind !== 'call' || block.result !== undefined) return [];
        const gone = interrupted || spoke.some((later) => lost(later.event) > lost(event));
        return gone && !waiting.has(block.call.id) ? [] : block.call;
      }),
    )
    .filter(({ id }) => id !== '' && (waiting.size === 0 || waiting.has(id)));
  const questions = open.map(questionOf);
  const confirmed = new Set(questions.map(({ about }) => about?.id));
  return questions.filter(({ id }) => !confirmed.has(id));
}

/** How many workers of its run were lost before an event. */
const lost = ({ continuation }: Event): number => Number(continuation ?? 0);

/** The ids of the calls that an event says are long-running. */
function waitingIn(event: Event): string[] {
  const { long_running_tool_ids: snake, longRunningToolIds: camel } = event as Record<
    string,
    unknown
  >;
  return [snake, camel].flatMap((ids) => (Array.isArray(ids) ? ids.filter(isText) : []));
}

function questionOf(call: ToolCall): Question {
  const args = objectOf(parsed(call.args));
  const kind = KINDS[call.name] ?? 'call';
  const about = kind === 'confirmation' ? calledIn(args.originalFunctionCall) : null;
  const hint = objectOf(args.toolConfirmation).hint;
  const asked = [hint, args.question, args.message, args.prompt, args.text, args.hint];
  const choices = [args.choices, args.options].find(isTexts) ?? [];
  const schema = args.responseSchema ?? args.response_schema;
  return {
    id: call.id,
    name: call.name,
    kind,
    text: asked.find(isText) ?? '',
    about,
    choices: isTexts(objectOf(schema).enum) ? (objectOf(schema).enum as string[]) : choices,
    schema: isObject(schema) ? (schema as Schema) : null,
  };
}

function calledIn(value: unknown): ToolCall | null {
  const { id, name, args } = objectOf(value);
  if (!isText(name)) return null;
  return { id: isText(id) ? id : '', name, args: JSON.stringify(args ?? {}) };
}

/** What the agent gets for a value: objects as they are, everything else as a result. */
export function responseOf(value: unknown): Response {
  return isObject(value) ? value : { result: value };
}

/** The input that answers questions. */
export function answering(answers: readonly (readonly [Question, Response])[]): InputEvent {
  const parts = answers.map(([{ id, name }, response]) => ({
    function_response: { id, name, response },
  }));
  return { author: 'user', content: { role: 'user', parts } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // the call was cut
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every(isText);
