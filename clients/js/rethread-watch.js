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
import { CUT, WatchState } from './state.js';
import { readBefore, readEnd, readThread } from './thread.js';

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
 * @param {number} [options.tail] to begin with the newest items only, so many; `has_older` says
 *   whether there are others, and `older()` brings as many more
 * @param {(session: object) => void} options.onChange how the session is now: {items, status,
 *   run_id, error, epoch, deleted, has_older}. Objects of items that have not changed stay the same
 * @param {(connection: object) => void} [options.onConnection] how the connection is now: {state,
 *   retryAt}. The state is 'connecting', 'live', or 'offline' once two tries in a row have failed;
 *   `retryAt` is when the next try is due, in epoch milliseconds, null where none is
 * @param {(error: Error) => void} [options.onEnd] why watching ended by itself: the session is not
 *   there, not the caller's to watch, or deleted; `status` of the error is 404, 403 or 410. Of a
 *   right that was taken back or has run out, its `reason` is 'revoked' or 'expired'
 * @param {object} [options.environment] globals to use instead: WebSocket, fetch, document, window
 * @returns {{close: () => void, older: () => Promise<void>, retry: () => void}} `older` resolves when
 *   the items before those that are shown have come, or there are none; `retry` connects at once
 *   instead of waiting
 */
export function watch(options) {
  const watching = new Watching(options);
  watching.start();
  return {
    close: () => watching.close(), older: () => watching.older(), retry: () => watching.retry(),
  };
}

/**
 * How many milliseconds to wait after so many failures: a random part, from none to all, of 250 ms,
 * doubling up to 30 s, and at least as long as was asked for. `random` is from 0 to below 1.
 */
export function backoff(failures, { least = 0, random = Math.random } = {}) {
  return least + random() * Math.min(30_000, 250 * 2 ** failures);
}

class Watching {
  #options;
  #globals;
  #state = new WatchState();
  #line = null;
  #subscribedOn = null;
  #timers = new Map();
  #failures = 0; // to connect or subscribe, in a row
  #dismissed = undefined; // why the server stopped telling, until it was asked again
  #reloads = []; // times of the last ones
  #reading = false;
  #unread = 0; // failures to read the thread, in a row
  #rereads = []; // who waits for the thread
  #older = null; // the reading of older items that goes on
  #connecting = false;
  #live = false; // the current line has an answer to its subscription
  #offline = false;
  #connection = { state: 'connecting', retryAt: null };
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
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#globals.window?.removeEventListener('online', this.#wake);
    this.#globals.document?.removeEventListener('visibilitychange', this.#wake);
    this.#line?.close();
    this.#reread();
  }

  /** Brings the items before those that are held. */
  older() {
    this.#older ??= this.#readOlder().finally(() => {
      this.#older = null;
    });
    return this.#older;
  }

  /** Tries at once what a failure has put off. */
  retry() {
    if (this.#closed) return;
    this.#failures = this.#unread = 0;
    if (this.#line) this.#line.ping();
    else this.#connect();
    for (const [name, run] of [['read', () => this.#read()], ['subscribe', () => this.#again()]]) {
      if (this.#timers.has(name)) this.#later(name, 0, run);
    }
    this.#report();
  }

  // After sleep a connection may be dead without anybody knowing, and waiting is of no use.
  #wake = () => {
    if (this.#globals.document?.visibilityState !== 'hidden') this.retry();
  };

  #end(error) {
    if (this.#closed) return;
    this.close();
    this.#options.onEnd?.(error);
  }

  #later(name, delay, run) {
    this.#never(name);
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      run();
    }, delay);
    this.#timers.set(name, { timer, at: Date.now() + delay });
  }

  #never(name) {
    clearTimeout(this.#timers.get(name)?.timer);
    this.#timers.delete(name);
  }

  // Tells how the connection is, where that has changed.
  #report() {
    if (this.#closed) return;
    if (this.#unread > 1 || (!this.#live && this.#failures > 1)) this.#offline = true;
    else if (this.#live && this.#unread === 0) this.#offline = false;
    const state = this.#offline ? 'offline' : this.#live ? 'live' : 'connecting';
    const due = ['connect', 'subscribe', 'read'].flatMap((name) => this.#timers.get(name)?.at ?? []);
    const retryAt = state === 'live' || due.length === 0 ? null : Math.min(...due);
    if (state === this.#connection.state && retryAt === this.#connection.retryAt) return;
    this.#connection = { state, retryAt };
    this.#options.onConnection?.(this.#connection);
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

  async #read() {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    try {
      await this.#replace();
      this.#reloads.push(Date.now());
      this.#unread = 0;
    } catch (error) {
      if (error.final) return this.#end(error);
      this.#later('read', backoff(this.#unread++), () => this.#read());
    } finally {
      this.#reading = false;
    }
    this.#report();
    this.#turn();
    if (!this.#state.needsThread) this.#reread();
  }

  // Of the end of a session as much is read as is held, so that nobody's place in it is lost.
  async #replace() {
    const { tail } = this.#options;
    if (!tail) {
      this.#state.replace(await readThread(this.#options, this.#globals.fetch), Date.now());
      return;
    }
    const count = Math.max(tail, this.#state.size);
    const end = await readEnd(this.#options, this.#globals.fetch, count);
    this.#state.replace([end], Date.now(), end.older);
  }

  #reread() {
    for (const done of this.#rereads.splice(0)) done();
  }

  // Where a rewind has made the cursor useless the end is read again, for another one.
  async #readOlder() {
    while (!this.#closed && this.#state.older !== null) {
      const from = this.#state.older;
      const reads = from !== CUT && !this.#state.needsThread;
      const page = reads
        ? await readBefore(this.#options, this.#globals.fetch, this.#options.tail, from) : null;
      if (page && this.#state.prepend(page.items, from, page.older, Date.now())) {
        this.#turn();
        return;
      }
      if (page) continue; // of what is not held any more
      if (this.#state.older !== from && !this.#state.needsThread) continue;
      this.#state.reread();
      await new Promise((done) => {
        this.#rereads.push(done);
        this.#turn();
      });
    }
  }

  async #connect() {
    this.#never('connect');
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
    this.#report();
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
        this.#dismissed = undefined;
        this.#live ||= this.#line === line;
        this.#report();
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
      dismissed: (reason) => this.#subscribedOn === line && this.#dismiss(reason),
      refused: (error) => this.#refused(error),
      closed: () => this.#lost(line),
    });
  }

  #refused(error) {
    if (error.final) return this.#end(Object.assign(error, { reason: this.#dismissed }));
    this.#later('subscribe', backoff(this.#failures++), () => this.#again());
    this.#report();
  }

  // The right to watch has ended. Whether there is another one, the server is asked once.
  #dismiss(reason) {
    this.#dismissed = reason;
    this.#later('subscribe', backoff(this.#failures++), () => this.#again());
  }

  #again() {
    this.#subscribedOn = null;
    this.#turn();
  }

  #lost(line) {
    this.#state.lost();
    const current = this.#line === line;
    if (current) {
      this.#line = this.#subscribedOn = null;
      this.#live = false;
    }
    if (current || !this.#line) this.#connectLater();
    this.#turn();
  }
}

function pick({ WebSocket, fetch, document, window }) {
  return { WebSocket, fetch, document, window };
}
