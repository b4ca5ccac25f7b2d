// The events of a run that is streamed again.

import { type Meaning, Replay } from '../streams/replay.js';

/** An event of AG-UI, with the members that are used. */
export interface AgentEvent {
  type: string;
  messageId?: string;
  toolCallId?: string;
  delta?: string;
  code?: string;
  threadId?: string;
  runId?: string;
  messages?: unknown[];
}

const HEAD = ['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'STATE_SNAPSHOT'];
const STREAMED = /^(TEXT|REASONING|TOOL_CALL)(?:_MESSAGE)?_(START|CONTENT|ARGS|END)$/;

/** The types of events that end a stream. */
export const LAST: readonly string[] = ['RUN_FINISHED', 'RUN_ERROR'];

/** A text is a message, a reasoning, or the arguments of a call. */
export class RunReplay extends Replay<AgentEvent> {
  #messages: unknown[]; // of the thread before the run
  #sent = ''; // the snapshot that the reader has
  #newer = false; // whether the connection has another one
  #run = '';
  #isHead = true;
  #isFirst = true;

  /** @param messages those of the request, which has no snapshot */
  constructor(messages: unknown[]) {
    super();
    this.#messages = messages;
  }

  override connect(): void {
    super.connect();
    this.#isFirst = this.#run === '';
    this.#isHead = true;
    this.#newer = false;
  }

  override take(event: AgentEvent): AgentEvent[] {
    const { type, runId = '', messages = [] } = event;
    const isHead = this.#isHead;
    this.#isHead = isHead && HEAD.includes(type);
    if (type === 'RUN_STARTED') {
      if (this.#isFirst) this.#run = runId;
      return this.#isFirst ? [event] : [];
    }
    if (type === 'MESSAGES_SNAPSHOT' && isHead) return this.#snapshot(event, messages);
    if (!this.#newer || !LAST.includes(type)) return super.take(event);
    this.#newer = false;
    return [...(this.restart() ?? []), ...super.take(event)];
  }

  protected meaning(event: AgentEvent): Meaning | null {
    const { type, messageId = '', toolCallId = '', delta = '' } = event;
    if (/^(STATE|MESSAGES)_/.test(type)) return null;
    if (LAST.includes(type)) return { key: type, last: true };
    const [, kind = '', what] = STREAMED.exec(type) ?? [];
    const text = `${kind} ${kind === 'TOOL_CALL' ? toolCallId : messageId}`;
    const key = `${type} ${text}`;
    if (!what) return { key: JSON.stringify(event) };
    if (what === 'START') return { key, opens: text };
    return what === 'END' ? { key, closes: text } : { key: text, text: delta };
  }

  protected withText(event: AgentEvent, delta: string): AgentEvent {
    return { ...event, delta };
  }

  /** Closes what is open, because a snapshot of the messages does not. */
  protected reset(_: number, open: string[]): AgentEvent[] {
    const messages = this.#messages;
    return [...open.flatMap(endsOf), { type: 'MESSAGES_SNAPSHOT', messages }];
  }

  /** A message can begin again under its id, and is then continued. */
  protected reopen(text: string, events: AgentEvent[]): AgentEvent[] {
    const starts = events.filter((event) => this.meaning(event)?.opens === text);
    return starts.filter(({ type }, i) => starts.findIndex((e) => e.type === type) === i);
  }

  /** Holds a newer snapshot back until it is known that the run has ended: it has the run's messages. */
  #snapshot(event: AgentEvent, messages: unknown[]): AgentEvent[] {
    const text = JSON.stringify(messages);
    this.#messages = messages;
    this.#newer = !this.#isFirst && text !== this.#sent;
    if (!this.#isFirst) return [];
    this.#sent = text;
    return [event];
  }
}

function endsOf(text: string): AgentEvent[] {
  const [kind, id = ''] = [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)];
  if (kind === 'TOOL_CALL') return [{ type: 'TOOL_CALL_END', toolCallId: id }];
  const types = kind === 'TEXT' ? ['TEXT_MESSAGE_END'] : ['REASONING_MESSAGE_END', 'REASONING_END'];
  return types.map((type) => ({ type, messageId: id }));
}
