// One connection to the WebSocket API.

import { errorFor } from '../http/error-of.js';
import type { RethreadError } from '../http/errors.js';
import type { WatchMessage } from './message.js';

const PING_EVERY = 5 * 60_000; // milliseconds; the gateway closes a connection idle for 10 minutes
const ANSWER_TIMEOUT = 10_000; // milliseconds

/** The part of a WebSocket that is used. */
export interface Socket {
  send(data: string): void;
  close(): void;
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
}

/** Callbacks of a connection. */
export interface Handlers {
  open(): void;
  subscribed(): void;
  message(message: WatchMessage): void;
  /** A message could not be parsed. */
  unreadable(): void;
  /** Access has ended. */
  unsubscribed(reason: 'revoked' | 'expired'): void;
  refused(error: RethreadError): void;
  /** The token was rejected or has expired; `closed` follows. */
  unauthorized(): void;
  closed(): void;
}

type Answer = {
  type: string;
  request_id?: string;
  status?: number;
  code?: string;
  title?: string;
  detail?: string;
};

export class Connection {
  readonly #socket: Socket;
  readonly #handlers: Handlers;
  #closed = false;
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  #answerTimer: ReturnType<typeof setTimeout> | undefined;
  #requests = 0;
  #request: string | null = null; // id of the unanswered subscription

  /** @param socket a connecting WebSocket */
  constructor(socket: Socket, handlers: Handlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#awaitAnswer();
    socket.addEventListener('open', () => {
      if (this.#closed) return;
      this.#alive();
      handlers.open();
    });
    socket.addEventListener('message', ({ data }) => this.#closed || this.#receive(data));
    socket.addEventListener('error', () => this.close());
    socket.addEventListener('close', () => this.close());
  }

  /** Whether a subscription is still unanswered. */
  get busy(): boolean {
    return this.#request !== null;
  }

  subscribe(sessionId: string, cursor: string): void {
    this.#request = String(++this.#requests);
    this.#send({ action: 'subscribe', session_id: sessionId, request_id: this.#request, cursor });
  }

  /** Sends a ping, and closes the connection if no answer arrives within 10 seconds. */
  ping(): void {
    this.#send({ action: 'ping' });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#pingTimer);
    clearTimeout(this.#answerTimer);
    this.#socket.close();
    this.#handlers.closed();
  }

  #send(action: object): void {
    if (this.#closed) return;
    this.#socket.send(JSON.stringify(action));
    this.#awaitAnswer();
  }

  #awaitAnswer(): void {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = setTimeout(() => this.close(), ANSWER_TIMEOUT);
  }

  #alive(): void {
    clearTimeout(this.#answerTimer);
    clearTimeout(this.#pingTimer);
    this.#pingTimer = setTimeout(() => this.ping(), PING_EVERY);
  }

  #receive(data: unknown): void {
    let message: WatchMessage & Answer;
    try {
      message = JSON.parse(String(data));
    } catch {
      this.#handlers.unreadable();
      return;
    }
    switch (message.type) {
      case undefined: // an error of the gateway itself, which does not answer the action
        return;
      case 'pong':
        if (!this.busy) this.#alive();
        return;
      case 'unsubscribed': // with a reason it is a notice, not an answer
        if (message.reason === 'token_expired') this.#unauthorized();
        else if (message.reason)
          this.#handlers.unsubscribed(message.reason as 'revoked' | 'expired');
        return;
      case 'subscribed':
      case 'error':
        this.#answer(message);
        return;
      default:
        this.#handlers.message(message);
    }
  }

  #unauthorized(): void {
    this.#handlers.unauthorized();
    this.close();
  }

  #answer({ type, request_id: request, status = 0, code, title, detail }: Answer): void {
    if (status === 401) this.#unauthorized();
    if (status === 401 || request !== this.#request) return;
    this.#request = null;
    this.#alive();
    if (type === 'error')
      this.#handlers.refused(errorFor(status, { problem: { code, title, detail } }));
    else this.#handlers.subscribed();
  }
}
