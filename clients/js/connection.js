// One connection to the WebSocket API.

import { errorOf } from './thread.js';

const PING_EVERY = 5 * 60_000; // milliseconds; the gateway closes a connection idle for 10 minutes
const ANSWER_TIMEOUT = 10_000; // milliseconds

export class Connection {
  #socket;
  #handlers;
  #closed = false;
  #pingTimer = null;
  #answerTimer = null;
  #requests = 0;
  #request = null; // id of the unanswered subscription

  /**
   * @param {WebSocket} socket a connecting WebSocket
   * @param {object} handlers callbacks: open, subscribed, message, unreadable, unsubscribed, refused
   *   and closed
   */
  constructor(socket, handlers) {
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
  get busy() {
    return this.#request !== null;
  }

  subscribe(sessionId, cursor) {
    this.#request = String(++this.#requests);
    this.#send({ action: 'subscribe', session_id: sessionId, request_id: this.#request, cursor });
  }

  /** Sends a ping, and closes the connection if no answer arrives within 10 seconds. */
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
    this.#awaitAnswer();
  }

  #awaitAnswer() {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = setTimeout(() => this.close(), ANSWER_TIMEOUT);
  }

  #alive() {
    clearTimeout(this.#answerTimer);
    clearTimeout(this.#pingTimer);
    this.#pingTimer = setTimeout(() => this.ping(), PING_EVERY);
  }

  #receive(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return this.#handlers.unreadable();
    }
    switch (message.type) {
      case undefined: // an error of the gateway itself, which does not answer the action
        return;
      case 'pong':
        if (!this.busy) this.#alive();
        return;
      case 'unsubscribed': // with a reason it is a notice, not an answer
        if (message.reason === 'token_expired') this.close();
        else if (message.reason) this.#handlers.unsubscribed(message.reason);
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
    this.#alive();
    if (type === 'error') this.#handlers.refused(errorOf(status, detail));
    else this.#handlers.subscribed();
  }
}
