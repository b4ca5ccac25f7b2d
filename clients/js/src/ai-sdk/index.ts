// The package `rethread/ai-sdk`: a transport for useChat of the AI SDK.

import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { Rethread } from '../client.js';
import { agentSegment } from '../http/arguments.js';
import { NotFoundError } from '../http/errors.js';
import { ChatStream } from './stream.js';

type Sending<M extends UIMessage> = Parameters<ChatTransport<M>['sendMessages']>[0];
type Resuming<M extends UIMessage> = Parameters<ChatTransport<M>['reconnectToStream']>[0];

export interface RethreadChatTransportOptions {
  client: Rethread;
  /** The agent's name, as the deployment has it. */
  agent: string;
  /** Added to the body of each message, such as `{ rethread: { on_active: 'enqueue' } }`. */
  body?: object;
  /**
   * The effect of an aborted request, as by `stop()`: `stop`, the default, cancels the run, `leave` only ends
   * the stream. A page that is closed always leaves.
   */
  onAbort?: 'stop' | 'leave';
  /** Called when the run of an aborted request could not be cancelled. */
  onStopFailed?: (error: unknown) => void;
}

export interface LoadOptions {
  /** The largest number of messages, 1 to 1,000. */
  limit?: number;
  signal?: AbortSignal;
}

/**
 * Connects the chats of one user to an agent. A chat is a session with its id. A stream whose connection
 * is lost goes on where it was. Requests reject with the errors of `rethread`.
 */
export class RethreadChatTransport<M extends UIMessage = UIMessage> implements ChatTransport<M> {
  /** A resumed stream has its message from the beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #options: RethreadChatTransportOptions;
  readonly #streams = new Set<ChatStream>();
  readonly #newest = new Map<string, ChatStream>(); // by chat
  readonly #stops = new Map<string, Promise<void>>();
  readonly #older = new Map<string, URLSearchParams>(); // queries of the pages before those loaded
  readonly #loaded = new Map<string, string>(); // last messages that may change after they were loaded

  constructor(options: RethreadChatTransportOptions) {
    this.#options = options;
  }

  /**
   * Returns the newest messages of a chat, without those of a run in progress, which `reconnectToStream`
   * has; none if the chat has not begun. By default they are as many as the server sends at once.
   */
  async loadMessages(chatId: string, options: LoadOptions = {}): Promise<M[]> {
    const { limit, signal } = options;
    const messages = await this.#load(chatId, limit ? { limit } : {}, signal);
    const last = messages.at(-1);
    const mayChange =
      last?.role === 'user' || last?.parts.some(({ type }) => type === 'dynamic-tool');
    if (mayChange) this.#loaded.set(chatId, JSON.stringify(last));
    else this.#loaded.delete(chatId);
    return messages;
  }

  /** Returns the messages before those that were loaded last; none if these are the oldest. */
  async loadOlder(chatId: string, options: Pick<LoadOptions, 'signal'> = {}): Promise<M[]> {
    const older = this.#older.get(chatId);
    return older ? this.#load(chatId, Object.fromEntries(older), options.signal) : [];
  }

  /** Sends a chat's messages, and returns the chunks of the run. */
  async sendMessages(options: Sending<M>): Promise<ReadableStream<UIMessageChunk>> {
    const { chatId: id, messages, trigger, messageId, body, headers } = options;
    const all = { ...this.#options.body, ...body, id, messages, trigger, messageId };
    const stream = this.#begin(id, headers, all);
    await this.#stops.get(id);
    const chunks = await stream.read(options.abortSignal, () => this.#aborted(id, stream));
    return chunks ?? new ReadableStream({ start: (controller) => controller.close() });
  }

  /** Returns the chunks of the message in progress; null without one. */
  async reconnectToStream(options: Resuming<M>): Promise<ReadableStream<UIMessageChunk> | null> {
    const { chatId: id, headers } = options;
    const stream = this.#begin(id, headers);
    await this.#stops.get(id);
    return stream.read(options.abortSignal, () => {
      // React's strict mode, and a chat that resumes once more, replace a stream in the same task.
      queueMicrotask(() => {
        if (stream.isRead && this.#newest.get(id) === stream) this.#aborted(id, stream);
        else stream.leave();
      });
    });
  }

  /** Cancels the run in progress of a chat. Returns the run's id; null without one. */
  async stop(chatId: string): Promise<string | null> {
    const response = await this.#request('POST', chatId, 'stop');
    const { run_id } = (await response.json()) as { run_id: string | null };
    return run_id;
  }

  /** Ends all streams of this transport. Their runs go on. */
  close(): void {
    for (const stream of this.#streams) stream.leave();
  }

  #begin(chatId: string, headers?: HeadersInit, body?: object): ChatStream {
    const stream: ChatStream = new ChatStream({
      client: this.#options.client,
      agent: this.#agent,
      chatId,
      headers,
      ...(body && { body }),
      stored: async () => (await this.#request('GET', chatId, 'messages')).json(),
      loaded: this.#loaded.get(chatId),
      ended: () => {
        this.#streams.delete(stream);
        if (this.#newest.get(chatId) === stream) this.#newest.delete(chatId);
      },
    });
    this.#loaded.delete(chatId);
    this.#streams.add(stream);
    this.#newest.set(chatId, stream);
    return stream;
  }

  #aborted(chatId: string, stream: ChatStream): void {
    const { onAbort = 'stop', onStopFailed } = this.#options;
    if (onAbort === 'leave') {
      stream.leave();
      return;
    }
    const stopping: Promise<void> = stream
      .stop()
      .catch((error) => onStopFailed?.(error))
      .finally(() => {
        if (this.#stops.get(chatId) === stopping) this.#stops.delete(chatId);
      });
    this.#stops.set(chatId, stopping);
  }

  /** Reads a page of messages, and notes where the one before it is. */
  async #load(chatId: string, query: object, signal?: AbortSignal): Promise<M[]> {
    try {
      const page = await this.#request('GET', chatId, 'messages', signal, query);
      const [, older] = /<(.*?)>/.exec(page.headers.get('Link') ?? '') ?? [];
      if (older) this.#older.set(chatId, new URLSearchParams(older));
      else this.#older.delete(chatId);
      return await page.json();
    } catch (error) {
      if (error instanceof NotFoundError) return [];
      throw error;
    }
  }

  /** The agent as paths have it. */
  get #agent(): string {
    return agentSegment(this.#options.agent);
  }

  #request(
    method: 'GET' | 'POST',
    chatId: string,
    what: string,
    signal?: AbortSignal,
    query: object = {},
  ): Promise<Response> {
    const path = `/ai-sdk/{}/{}/${what}`;
    const params = [this.#agent, chatId];
    return this.#options.client.streams.request({ method, path, params, query }, signal);
  }
}
