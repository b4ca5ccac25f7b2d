// Messages: events as shown to users.

import type { Event, RunError } from '../api/types';
import { isText, objectOf } from './values';

export interface ToolCall {
  id: string;
  name: string;
  /** The arguments as JSON text, possibly incomplete. */
  args: string;
}

export interface CallBlock {
  kind: 'call';
  call: ToolCall;
  /** undefined until there is one. */
  result: unknown;
  /** When the call was made and its result came, in epoch milliseconds. */
  began: number;
  ended?: number | undefined;
}

export type Block =
  | { kind: 'text' | 'thought'; text: string }
  | CallBlock
  | { kind: 'file'; name: string; mime: string; data?: string; uri?: string }
  /** The user's response to a call. */
  | { kind: 'answer'; text: string };

export interface Message {
  id: string;
  event: Event;
  role: 'user' | 'agent';
  author: string;
  invocation: string;
  blocks: readonly Block[];
  streaming: boolean;
  /** Why it failed; null if it was stopped or interrupted. */
  error: RunError | null;
  stopped: boolean;
  /** Whether its worker was lost and another one continued the answer. */
  interrupted: boolean;
}

interface Part {
  text?: string;
  thought?: boolean;
  function_call?: { id?: string; name?: string; args?: unknown; args_text?: string };
  function_response?: { id?: string; name?: string; response?: unknown };
  inline_data?: { mime_type?: string; data?: string; display_name?: string };
  file_data?: { mime_type?: string; file_uri?: string; display_name?: string };
}

type Results = Map<string, { value: unknown; time: number }>;

/** Converts events to messages; an unchanged message stays the same object. */
export class Messages {
  #known = new WeakMap<Event, Message>();

  of(events: readonly Event[]): Message[] {
    const results = resultsOf(events);
    return events.flatMap((event) => {
      const known = this.#known.get(event);
      if (known && !hasNewResult(known, results)) return known;
      const message = messageOf(event, results);
      if (message) this.#known.set(event, message);
      return message ?? [];
    });
  }
}

/** Whether a message is a question, rather than a file that a user has saved, or an answer. */
export const isQuestion = ({ role, blocks }: Message): boolean =>
  role === 'user' && blocks.some(({ kind }) => kind !== 'answer');

/** Whether an event is a user's response to one of these calls. */
export const respondsTo = (event: Event, calls: ReadonlySet<string>): boolean =>
  event.author === 'user' &&
  partsOf(event).some(({ function_response: response }) => calls.has(response?.id ?? ''));

/** The text of a message, for copying. */
export function textOf(message: Message): string {
  return message.blocks.flatMap((block) => (block.kind === 'text' ? block.text : [])).join('\n\n');
}

/** The text of an input that is not in the thread yet; a file is shown by its name. */
export function textOfInput(events: readonly { content?: unknown }[]): string {
  const texts = events.flatMap(partsOf).map((part) => {
    const file = part.inline_data ?? part.file_data;
    return part.text ?? (file && (file.display_name || 'a file')) ?? '';
  });
  return texts.filter((text) => text !== '').join('\n\n');
}

/** An answer in words. */
export function answerText(response: unknown): string {
  const { confirmed, result, error, cancelled } = objectOf(response);
  if (confirmed === true) return 'Approved';
  if (confirmed === false) return 'Rejected';
  if (isText(error) || cancelled === true) return 'Declined';
  if (isText(result)) return result;
  return JSON.stringify(result === undefined ? response : result) ?? '';
}

/**
 * Why a tool call failed, by its result: `error` in Gemini's form, `isError` in MCP's, the status
 * "error" in that of ADK's examples. Null if it did not.
 */
export function failureOf(result: unknown): string | null {
  if (typeof result !== 'object' || result === null) return null;
  const { error, isError, status, error_message } = result as Record<string, unknown>;
  if (typeof error === 'string' && error !== '') return error;
  if (typeof error === 'object' && error !== null) return messageIn(error);
  if (typeof error_message === 'string' && status === 'error') return error_message;
  return [error, isError].includes(true) || status === 'error' ? 'The call failed.' : null;
}

function messageIn(error: object): string {
  const { message } = error as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : JSON.stringify(error);
}

function messageOf(event: Event, results: Results): Message | null {
  const parts = partsOf(event);
  const blocks = parts.flatMap((part) => blockOf(part, event, results) ?? []);
  const streaming = event.status === 'in_progress';
  const error = event.status === 'failed' ? (event.error as RunError | undefined) : undefined;
  const changes = Object.keys({ ...event.actions?.state_delta, ...event.actions?.artifact_delta });
  const shown = blocks.length > 0 || streaming || error || changes.length > 0;
  if (!shown || event.author === 'system') return null;
  return {
    id: event.id,
    event,
    role: event.author === 'user' ? 'user' : 'agent',
    author: event.author,
    invocation: event.invocation_id,
    blocks,
    streaming,
    error: error && error.code !== 'cancelled' && error.code !== 'interrupted' ? error : null,
    stopped: error?.code === 'cancelled',
    interrupted: error?.code === 'interrupted',
  };
}

function blockOf(part: Part, event: Event, results: Results): Block | null {
  if (typeof part.text === 'string') {
    return part.text === '' ? null : { kind: part.thought ? 'thought' : 'text', text: part.text };
  }
  if (part.function_call) {
    const { id = '', name = '', args, args_text } = part.function_call;
    const call = { id, name, args: args_text ?? JSON.stringify(args ?? {}) };
    const result = results.get(key(event, call));
    const [began, ended] = [event.created_time, result?.time];
    return { kind: 'call', call, result: result?.value, began, ended };
  }
  if (part.function_response && event.author === 'user') {
    return { kind: 'answer', text: answerText(part.function_response.response) };
  }
  if (part.inline_data) {
    const { mime_type: mime = '', data = '', display_name: name = '' } = part.inline_data;
    return { kind: 'file', name, mime, data };
  }
  if (part.file_data) {
    const { mime_type: mime = '', file_uri: uri = '', display_name: name = '' } = part.file_data;
    return { kind: 'file', name, mime, uri };
  }
  return null;
}

function resultsOf(events: readonly Event[]): Results {
  const results: Results = new Map();
  const calls = new Map<string, string>(); // the newest call with each id
  for (const event of events) {
    for (const { function_call: call, function_response: response } of partsOf(event)) {
      if (call?.id) calls.set(call.id, key(event, call));
      if (!response) continue;
      const value = response.response ?? null;
      results.set(called(event, response, calls), { value, time: event.created_time });
    }
  }
  return results;
}

// Users answer calls of earlier invocations.
function called(
  event: Event,
  response: { id?: string; name?: string },
  calls: Map<string, string>,
) {
  const earlier = event.author === 'user' ? calls.get(response.id ?? '') : undefined;
  return earlier ?? key(event, response);
}

// Ids of calls are unique only within an invocation.
const key = (event: Event, { id, name }: { id?: string; name?: string }) =>
  `${event.invocation_id}\n${id || name}`;

function hasNewResult({ event, blocks }: Message, results: Results): boolean {
  return blocks.some(
    (b) => b.kind === 'call' && b.result !== results.get(key(event, b.call))?.value,
  );
}

function partsOf({ content }: { content?: unknown }): Part[] {
  const parts = (content as { parts?: unknown } | null | undefined)?.parts;
  return Array.isArray(parts) ? parts.filter((part) => typeof part === 'object' && part) : [];
}
