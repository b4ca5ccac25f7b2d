// A fake of the front ends' endpoints, whose streams a test sends and cuts.

import { Rethread } from 'rethread';

/** The body of a response, sent event by event. */
export class Stream {
  #controller;
  #encoder = new TextEncoder();
  left = false;

  constructor({ request, headers }) {
    this.request = request;
    const body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.left = true;
      },
    });
    request.signal?.addEventListener('abort', () => {
      this.left = true;
    });
    this.response = new Response(body, { headers });
  }

  raw(text) {
    this.#controller.enqueue(this.#encoder.encode(text));
  }

  send(...events) {
    for (const event of events) this.raw(`data: ${JSON.stringify(event)}\n\n`);
    return this;
  }

  /** Whether all that was sent is read. */
  get isRead() {
    return this.#controller.desiredSize > 0;
  }

  /** Breaks the connection when all that was sent is read. */
  async cut() {
    await until('read', () => this.isRead);
    this.#controller.error(new TypeError('terminated'));
  }

  end() {
    this.raw('data: [DONE]\n\n');
    this.#controller.close();
  }
}

/** A server that gives a stream for each request, unless `answers` has something else for its path. */
export class StreamServer {
  requests = [];
  streams = [];
  /** Functions by "METHOD path", which return a response or undefined. */
  answers = {};
  tokens = [];

  client(options = {}) {
    return new Rethread({
      url: 'http://api',
      streamUrl: 'http://api',
      token: 't',
      random: () => 0,
      fetch: (url, init) => this.#answer(url, init),
      ...options,
    });
  }

  async #answer(url, init) {
    const { pathname: path } = new URL(url);
    const body = init.body ? JSON.parse(init.body) : undefined;
    const request = {
      what: `${init.method} ${path}`,
      url,
      body,
      headers: init.headers,
      signal: init.signal,
    };
    this.requests.push(request);
    init.signal?.throwIfAborted();
    const answer = await this.answers[request.what]?.(request);
    if (answer) return answer;
    const stream = new Stream({ request });
    this.streams.push(stream);
    return stream.response;
  }

  get asked() {
    return this.requests.map(({ what }) => what);
  }

  get stream() {
    return this.streams.at(-1);
  }
}

export const json = (status, body, headers) => () =>
  new Response(body === undefined ? null : JSON.stringify(body), { status, headers });

/** Waits until a condition holds. */
export async function until(what, condition) {
  for (let turns = 0; turns < 5000; turns++) {
    if (await condition()) return;
    await new Promise((done) => setImmediate(done));
  }
  throw new Error(`never: ${what}`);
}
