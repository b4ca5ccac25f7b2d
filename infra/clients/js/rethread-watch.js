// Watches a session as it happens, in browsers and wherever there are WebSocket and fetch:
//
//   const watching = watch({
//     httpUrl: 'https://api.example/api/v1',
//     wsUrl: 'wss://live.example/v1',
//     token: async () => '…',
//     sessionId: 'S1',
//     onChange: ({ items, status }) => …,
//   });
//   …
//   watching.close();

import { Line } from './line.js';
import { WatchState } from './state.js';
import { readThread } from './thread.js';

export { WatchState };

const RENEW_AFTER = 110 * 60_000; // a connection lives for 2 hours
const LINGER = 30_000; // an old connection beside its successor

/**
 * @param {object} options
 * @param {string} options.httpUrl of the HTTP API, with its version
 * @param {string} options.wsUrl of the WebSocket API
 * @param {() => Promise<string>} options.token a token that is valid for a while yet; it is asked
 *   for each connection and each thread, so it should keep what it has
 * @param {string} options.sessionId
 * @param {(session: object) => void} options.onChange how the session is now: {items, status,
 *   run_id, error, epoch, deleted}. Objects of items that have not changed stay the same
 * @param {(error: Error) => void} [options.onEnd] why watching ended by itself: the session is not
 *   there, somebody else's, or deleted; `status` of the error is 404, 403 or 410
 * @param {object} [options.environment] globals to use instead: WebSocket, fetch, document, window
 * @returns {{close: () => void}}
 */
export function watch(options) {
  const watching = new Watching(options);
  watching.start();
  return { close: () => watching.close() };
}

/** How long to wait after so many failures: up to 250 ms, doubling up to 30 s, at random. */
export function backoff(failures) {
  const longest = Math.min(30_000, 250 * 2 ** failures);
  return longest / 2 + (Math.random() * longest) / 2;
}

class Watching {
  #options;
  #globals;
  #state = new WatchState();
  #line = null;
  #subscribedOn = null;
  #timers = new Map();
  #failures = 0; // to connect or subscribe, in a row
  #reloads = []; // times of the last ones
  #reading = false;
  #connecting = false;
  #shown = 0;
  #closed = false;

  constructor(options) {
    this.#options = options;
    this.#globals = { ...pick(globalThis), ...options.environment };
  }

  start() {
    this.#globals.window?.addEventListener('online', this.#wake);
    this.#globals.document?.addEventListener('visibilitychange', this.#wake);
    this.#connect();
    this.#turn();
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#globals.window?.removeEventListener('online', this.#wake);
    this.#globals.document?.removeEventListener('visibilitychange', this.#wake);
    this.#line?.close();
  }

  // After sleep a connection may be dead without anybody knowing, and waiting is of no use.
  #wake = () => {
    if (this.#closed || this.#globals.document?.visibilityState === 'hidden') return;
    this.#failures = 0;
    if (this.#line) this.#line.ping();
    else this.#connect();
    if (this.#timers.has('read')) this.#later('read', 0, () => this.#read());
  };

  #end(error) {
    if (this.#closed) return;
    this.close();
    this.#options.onEnd?.(error);
  }

  #later(name, delay, run) {
    clearTimeout(this.#timers.get(name));
    this.#timers.set(name, setTimeout(() => {
      this.#timers.delete(name);
      run();
    }, delay));
  }

  // Shows what is new and does what the state asks for.
  #turn() {
    if (this.#closed) return;
    const state = this.#state;
    if (this.#shown !== state.version && !state.needsThread) {
      this.#shown = state.version;
      this.#options.onChange(state.show());
    }
    if (this.#closed) return; // by onChange
    if (state.deleted) {
      this.#end(Object.assign(new Error('the session was deleted'), { status: 410 }));
    } else if (state.needsThread) {
      this.#readSoon();
    } else if (this.#line && (this.#subscribedOn !== this.#line || state.repairAt <= Date.now() && state.repairAt !== null)) {
      this.#subscribe();
    } else if (state.repairAt !== null) {
      this.#later('repair', state.repairAt - Date.now(), () => this.#turn());
    }
  }

  #subscribe() {
    if (this.#line.busy || this.#timers.has('subscribe')) return;
    this.#subscribedOn = this.#line;
    this.#line.subscribe(this.#options.sessionId, this.#state.cursor);
    this.#state.repairing(Date.now());
  }

  // An item that is too large for a frame while it grows asks for the thread again and again.
  #readSoon() {
    if (this.#reading || this.#timers.has('read')) return;
    const now = Date.now();
    this.#reloads = this.#reloads.filter((time) => now - time < 60_000);
    const often = this.#reloads.length - 1;
    if (often > 0) this.#later('read', backoff(often), () => this.#read());
    else this.#read();
  }

  async #read(failures = 0) {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    try {
      const pages = await readThread(this.#options, this.#globals.fetch);
      this.#reloads.push(Date.now());
      this.#state.replace(pages, Date.now());
    } catch (error) {
      if (error.final) return this.#end(error);
      this.#later('read', backoff(failures), () => this.#read(failures + 1));
    } finally {
      this.#reading = false;
    }
    this.#turn();
  }

  async #connect() {
    clearTimeout(this.#timers.get('connect'));
    this.#timers.delete('connect');
    if (this.#connecting || this.#closed) return;
    this.#connecting = true;
    try {
      const token = await this.#options.token();
      if (!this.#closed) this.#open(token);
    } catch {
      this.#connectLater();
    } finally {
      this.#connecting = false;
    }
  }

  #connectLater() {
    if (!this.#closed) this.#later('connect', backoff(this.#failures++), () => this.#connect());
  }

  // The new connection takes over when it is open, and the old one ends some time after, so that
  // nothing falls in between.
  #open(token) {
    const url = new URL(this.#options.wsUrl);
    url.searchParams.set('token', token);
    const line = new Line(new this.#globals.WebSocket(url), {
      open: () => {
        if (this.#closed) return line.close();
        const old = this.#line;
        if (old) setTimeout(() => old.close(), LINGER);
        this.#line = line;
        this.#later('renew', RENEW_AFTER - Math.random() * LINGER, () => this.#connect());
        this.#turn();
      },
      subscribed: () => {
        this.#failures = 0;
        this.#turn();
      },
      message: (message) => {
        this.#state.apply(message, Date.now());
        this.#turn();
      },
      unreadable: () => {
        this.#state.missed(Date.now());
        this.#turn();
      },
      refused: (error) => this.#refused(error),
      closed: () => this.#lost(line),
    });
  }

  #refused(error) {
    if (error.final) return this.#end(error);
    this.#later('subscribe', backoff(this.#failures++), () => {
      this.#subscribedOn = null;
      this.#turn();
    });
  }

  #lost(line) {
    this.#state.lost();
    const current = this.#line === line;
    if (current) this.#line = this.#subscribedOn = null;
    if (current || !this.#line) this.#connectLater();
    this.#turn();
  }
}

function pick({ WebSocket, fetch, document, window }) {
  return { WebSocket, fetch, document, window };
}
