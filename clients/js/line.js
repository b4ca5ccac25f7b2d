// One connection to the WebSocket API.

import { errorOf } from './thread.js';

const PING_EVERY = 5 * 60_000; // 10 minutes of silence end a connection
const ANSWER_WITHIN = 10_000;

export class Line {
  #socket;
  #handlers;
  #closed = false;
  #pingTimer = null;
  #answerTimer = null;
  #requests = 0;
  #request = null; // the subscription that is not answered yet

  /**
   * @param {WebSocket} socket that is connecting
   * @param {object} handlers open, subscribed, message, unreadable, dismissed, refused and
   *   closed
   */
  constructor(socket, handlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#expect();
    socket.addEventListener('open', () => {
      if (this.#closed) return;
      this.#answered();
      handlers.open();
    });
    socket.addEventListener('message', ({ data }) => this.#closed || this.#received(data));
    socket.addEventListener('error', () => this.close());
    socket.addEventListener('close', () => this.close());
  }

  /** Whether a subscription is not answered yet. */
  get busy() {
    return this.#request !== null;
  }

  subscribe(sessionId, cursor) {
    this.#request = String(++this.#requests);
    this.#send({ action: 'subscribe', session_id: sessionId, request_id: this.#request, cursor });
  }

  /** Finds out whether the connection is alive; one that does not answer is closed. */
  ping() {
    this.#send({ action: 'ping' });
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#pingTimer);
    clearTimeout(this.#answerTimer);
    this.#socket.close();
    this.#handlers.closed();
  }

  #send(action) {
    if (this.#closed) return;
    this.#socket.send(JSON.stringify(action));
    this.#expect();
  }

  #expect() {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = setTimeout(() => this.close(), ANSWER_WITHIN);
  }

  #answered() {
    clearTimeout(this.#answerTimer);
    clearTimeout(this.#pingTimer);
    this.#pingTimer = setTimeout(() => this.ping(), PING_EVERY);
  }

  #received(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return this.#handlers.unreadable();
    }
    switch (message.type) {
      case undefined: // the gateway's own errors; what was asked for is not answered
        return;
      case 'pong':
        if (!this.busy) this.#answered();
        return;
      case 'unsubscribed': // with a reason it is no answer
        if (message.reason === 'token_expired') this.close();
        else if (message.reason) this.#handlers.dismissed(message.reason);
        return;
      case 'subscribed':
      case 'error':
        return this.#answer(message);
      default:
        this.#handlers.message(message);
    }
  }

  #answer({ type, request_id: request, status, detail }) {
    if (status === 401) return this.close(); // the token has expired
    if (request !== this.#request) return;
    this.#request = null;
    this.#answered();
    if (type === 'error') this.#handlers.refused(errorOf(status, detail));
    else this.#handlers.subscribed();
  }
}
