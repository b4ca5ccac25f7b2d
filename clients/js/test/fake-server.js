// A fake server with configurable responses, and a fake browser, for tests.

import assert from 'node:assert/strict';
import { mock } from 'node:test';

import { Rethread } from 'rethread';

export class Server {
  sockets = [];
  asked = [];
  thread = { status: 'idle', items: [], cursor: '0.0.0', run: null };
  status = 200;
  shows = [];
  ends = [];
  connections = [];
  /** Whose `watch` is called. */
  Client = Rethread;
  /** Options of the client. */
  options = {};
  window = new EventTarget();
  document = Object.assign(new EventTarget(), { visibilityState: 'visible' });

  constructor() {
    const server = this;
    this.WebSocket = class extends EventTarget {
      constructor(url) {
        super();
        server.asked.push(`connect ${url.searchParams.get('token')}`);
        server.sockets.push(this);
      }

      send(data) {
        const { action, cursor, request_id } = JSON.parse(data);
        server.asked.push(cursor ? `${action} ${cursor}` : action);
        this.request = request_id ?? this.request;
      }

      close() {
        this.closed = true;
      }

      receive(message) {
        this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(message) }));
      }
    };
    this.fetch = async (url) => {
      if (url.endsWith('/api/v1')) {
        this.asked.push('addresses');
        const data = { stream_url: 'http://here', websocket_url: 'ws://named' };
        return new Response(JSON.stringify({ data }));
      }
      this.asked.push(
        ['thread', ...new URL(url).searchParams.values()].join(' ').replace(' 1000', ''),
      );
      const { status, ...body } = this.page(new URL(url).searchParams);
      return new Response(JSON.stringify(body), { status });
    };
  }

  page() {
    return { status: this.status, data: this.thread, meta: { next_cursor: null } };
  }

  get socket() {
    return this.sockets.at(-1);
  }

  watch(more) {
    const { WebSocket, fetch, window, document } = this;
    const environment = { WebSocket, window, document };
    const options = { wsUrl: 'ws://here', token: () => 't', fetch, environment, ...this.options };
    this.client = new this.Client({ url: 'http://here', ...options });
    return this.client.watch('s', {
      onChange: (session) => this.shows.push(session),
      onEnd: (error) => this.ends.push(error.status),
      onConnection: ({ state }) => this.connections.push(state),
      ...more,
    });
  }

  async open() {
    await settled();
    this.socket.dispatchEvent(new Event('open'));
    this.answer('subscribed');
  }

  answer(type, more) {
    this.socket.receive({ type, request_id: this.socket.request, session_id: 's', ...more });
  }

  wantAsked(...want) {
    assert.deepEqual(this.asked.splice(0), want);
  }

  wantTexts(...want) {
    assert.deepEqual(
      this.shows.at(-1).items.map(({ content }) => content.parts.map(({ text }) => text).join('|')),
      want,
    );
  }
}

export async function settled() {
  for (let i = 0; i < 5; i++) await new Promise((done) => setImmediate(done));
}

export async function advance(ms) {
  mock.timers.tick(ms);
  await settled();
}
