// A server that answers as the exchanges of a recorded case say.

import assert from 'node:assert/strict';

export class ScriptedServer {
  /** The first request that differs from its exchange. */
  failure;
  /** Called after each exchange, and when a connection has got its messages. */
  onProgress = () => {};
  #exchanges;
  #requests = [];
  #subscriptions = [];
  #sent = new Map();
  #answered = 0;
  #pending = 0;

  constructor(exchanges) {
    this.#exchanges = exchanges;
    for (const [i, exchange] of exchanges.entries())
      (exchange.subscription ? this.#subscriptions : this.#requests).push(i);
    const server = this;
    this.WebSocket = class extends Socket {
      constructor(url) {
        super(server, url.searchParams.get('token'));
      }
    };
  }

  /** Whether all exchanges were used and all messages sent. */
  get finished() {
    return this.#requests.length + this.#subscriptions.length + this.#pending === 0;
  }

  wantAllUsed() {
    if (this.failure) throw this.failure;
    assert.deepEqual([...this.#requests, ...this.#subscriptions], [], 'unused exchanges');
  }

  fetch = async (url, init) => {
    const i = this.#requests.shift();
    this.#check(() => {
      assert.notEqual(i, undefined, `one request too many: ${init.method} ${url}`);
      this.#compare(i, new URL(url), init);
    });
    const { cut, silence, ...answer } = this.#exchanges[i].answer;
    if (silence) await new Promise((resolve) => init.signal.addEventListener('abort', resolve));
    init.signal?.throwIfAborted();
    this.#answered = Date.now();
    this.#later(() => {});
    if (cut) throw new TypeError('fetch failed');
    return responseOf(answer);
  };

  #compare(i, url, { method, headers, body }) {
    const { request: want, after_ms: after = 0 } = this.#exchanges[i];
    const got = new Headers(headers);
    const text = body instanceof Blob ? undefined : body;
    const repeated = { key: got.get('Idempotency-Key'), text };
    this.#sent.set(i, repeated);
    assert.equal(`${method} ${url.pathname}`, `${want.method} ${want.path}`);
    if (want.query) assert.deepEqual(Object.fromEntries(url.searchParams), want.query);
    for (const [name, value] of Object.entries(want.headers ?? {})) {
      if (value === '*') assert.ok(got.get(name), name);
      else assert.equal(got.get(name), value, name);
    }
    if (want.body) assert.deepEqual(JSON.parse(text), want.body);
    if (want.repeats) assert.deepEqual(repeated, this.#sent.get(want.repeats - 1));
    // Timers may be a millisecond early.
    assert.ok(Date.now() - this.#answered >= after - 2, 'it came too early');
  }

  /** Returns the exchange of a subscription. */
  subscribe(cursor, token) {
    const i = this.#subscriptions.shift();
    const exchange = this.#exchanges[i];
    this.#check(() => {
      assert.ok(exchange, `one subscription too many: ${cursor}`);
      assert.equal(cursor, exchange.subscription.cursor);
      if (exchange.subscription.token) assert.equal(token, exchange.subscription.token);
    });
    return exchange;
  }

  /** Calls a function after the present work, as a network would. */
  later(work) {
    this.#later(work);
  }

  #later(work) {
    this.#pending++;
    setImmediate(() => {
      this.#pending--;
      work();
      this.onProgress();
    });
  }

  #check(assertions) {
    try {
      assertions();
    } catch (error) {
      this.failure ??= error;
      this.#later(() => {});
      throw error;
    }
  }
}

function responseOf({ status, headers, body, text, cut_after: cutAfter }) {
  const content = body === undefined ? text : JSON.stringify(body);
  return new Response(cutAfter === undefined ? content : cutStream(cutAfter), {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

/** A body that breaks off after a text. */
function cutStream(text) {
  let begun = false;
  return new ReadableStream({
    pull(controller) {
      if (begun) return controller.error(new TypeError('terminated'));
      begun = true;
      controller.enqueue(new TextEncoder().encode(text));
    },
  });
}

/** A WebSocket of the client, on which subscriptions are answered. */
class Socket extends EventTarget {
  #server;
  #token;
  #closed = false;

  constructor(server, token) {
    super();
    this.#server = server;
    this.#token = token;
    server.later(() => this.#closed || this.dispatchEvent(new Event('open')));
  }

  send(data) {
    const { action, cursor, request_id, session_id } = JSON.parse(data);
    if (action === 'ping') return this.#receive({ type: 'pong', request_id });
    if (action !== 'subscribe') return;
    const { messages = [], end, refused } = this.#server.subscribe(cursor, this.#token);
    const answer = { request_id, session_id };
    if (refused) return this.#receive({ ...answer, type: 'error', title: 'Refused', ...refused });
    this.#receive({ ...answer, type: 'subscribed' });
    for (const message of messages) this.#receive(message);
    if (end !== 'open') this.#server.later(() => this.close());
  }

  #receive(message) {
    this.#server.later(() => {
      if (this.#closed) return;
      this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(message) }));
    });
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.dispatchEvent(new Event('close'));
  }
}
