// The stream of one request of a chat.

import type { UIMessage, UIMessageChunk } from 'ai';
import type { Rethread } from '../client.js';
import { RethreadError } from '../http/errors.js';
import type { StreamCall } from '../http/streams.js';
import type { Opened } from '../streams/follow.js';
import { RunStream } from '../streams/run.js';
import { type Chunk, LAST, MessageReplay } from './replay.js';
import { chunksOf } from './stored.js';

export interface ChatCall {
  client: Rethread;
  /** The agent as paths have it. */
  agent: string;
  chatId: string;
  headers: HeadersInit | undefined;
  /** The body of a message; without one the message in progress is read. */
  body?: object;
  /** Reads the stored messages. */
  stored(): Promise<UIMessage[]>;
  /** The last message as it was loaded, if it may have changed since. */
  loaded?: string | undefined;
  /** Called when nothing of the stream remains. */
  ended(): void;
}

export class ChatStream extends RunStream<UIMessageChunk> {
  readonly #call: ChatCall;
  readonly #replay = new MessageReplay();
  #message = ''; // id of the message
  #isOver = false; // whether another message is in progress already

  constructor(call: ChatCall) {
    super(call.client, call.ended);
    this.#call = call;
  }

  override isLast({ type }: UIMessageChunk): boolean {
    return LAST.includes(type);
  }

  override open(again: boolean, signal: AbortSignal): Promise<Opened<UIMessageChunk> | null> {
    if (this.#call.body) return this.#send(again, this.#call.body, signal);
    return this.#resume(again, signal);
  }

  override connect(): void {
    this.#replay.connect();
  }

  override take(chunk: UIMessageChunk): UIMessageChunk[] | null {
    if (chunk.type === 'start') {
      this.#isOver = this.#message !== '' && this.#message !== chunk.messageId;
      if (!this.#isOver) this.#message = chunk.messageId ?? '';
    }
    if (this.#isOver || chunk.type === 'data-rethread-reconnect') return null;
    if (chunk.type === 'data-rethread-run') {
      const { run_id, session_id } = (chunk as Chunk).data as Record<
        'run_id' | 'session_id',
        string
      >;
      this.run = { run: run_id, session: session_id };
    }
    return this.#replay.take(chunk);
  }

  /** Sends the message. Once its run is known, that is named: it may be over by now. */
  #send(again: boolean, body: object, signal: AbortSignal): Promise<Response> {
    const id = this.#call.chatId;
    const run_id = this.run?.run;
    const known = { id, messages: [], trigger: 'submit-message', rethread: { run_id } };
    const json = run_id ? known : body;
    return this.#request(again, { method: 'POST', path: '/ai-sdk/{}', json }, signal);
  }

  async #resume(again: boolean, signal: AbortSignal): Promise<Opened<UIMessageChunk> | null> {
    if (!this.#isOver) {
      const path = '/ai-sdk/{}/{}/stream';
      const response = await this.#request(again, { method: 'GET', path }, signal);
      if (response.status !== 204) return response;
    }
    return again ? this.#rest() : this.#missed();
  }

  #request(
    again: boolean,
    call: Pick<StreamCall, 'method' | 'path' | 'json'>,
    signal: AbortSignal,
  ): Promise<Response> {
    const { agent, chatId, headers } = this.#call;
    const attempts = again ? { attempts: 1 } : {};
    return this.client.streams.request(
      { ...call, ...attempts, params: [agent, chatId], headers },
      signal,
    );
  }

  /** The message of a run that ended while there was no connection. */
  async #rest(): Promise<UIMessageChunk[]> {
    const stored = (await this.#call.stored()).find(({ id }) => id === this.#message);
    if (!stored || !this.run) {
      throw new RethreadError(409, { problem: { detail: 'The message was rewound.' } });
    }
    const run = await this.client.runs.get(this.run.session, this.run.run);
    return [...chunksOf(stored), endOf(run)];
  }

  /** The message of a run that ended after the chat was loaded; null if there is none. */
  async #missed(): Promise<UIMessageChunk[] | null> {
    const { loaded, stored } = this.#call;
    const last = loaded === undefined ? undefined : (await stored()).at(-1);
    if (last?.role !== 'assistant' || JSON.stringify(last) === loaded) return null;
    return [...chunksOf(last), { type: 'finish' }];
  }
}

function endOf(run: { status: string; error?: { message: string } | null }): UIMessageChunk {
  if (run.status === 'cancelled') return { type: 'abort', reason: 'cancelled' };
  if (run.status !== 'failed') return { type: 'finish' };
  return { type: 'error', errorText: run.error?.message ?? 'The run failed.' };
}
