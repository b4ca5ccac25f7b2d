// The addresses of a deployment. Those that are not given are asked for when one is needed.

import { address, HTTP, WEBSOCKET } from './arguments.js';
import { ArgumentError, ConnectionError, RethreadError, TimeoutError } from './errors.js';
import { until } from './wait.js';

/** Where a deployment is: one address, by which the client finds the others. */
export interface AddressOptions {
  /** The deployment's address, such as https://api.example, with or without /api/v1. */
  url?: string;
  /** @deprecated The earlier name of `url`. */
  baseUrl?: string;
  /** The address of exports and agents, with or without /api/v1; by default the deployment names it. */
  streamUrl?: string;
  /** The WebSocket API's address, such as wss://live.example/v1; by default the deployment names it. */
  wsUrl?: string;
}

/** The kinds of addresses: `api` and `stream` end with the version of the API, the others do not. */
export type Base = 'api' | 'root' | 'stream' | 'streamRoot';

/** Asks the deployment, and returns the text of its answer. */
export type Ask = (signal: AbortSignal) => Promise<string>;

/** A question, and how many calls wait for its answer. */
interface Asked {
  named: Promise<Named>;
  controller: AbortController;
  waiting: number;
}

interface Named {
  streamRoot: string;
  socket: string;
}

const VERSION = '/api/v1';
const LASTS = 3_600_000; // milliseconds until the deployment is asked again

/**
 * The token is sent to all of these addresses. Those that the deployment names may have other origins,
 * because the streams of a deployment have: who answers at `url` gets the token with each call anyway.
 * So an answer from elsewhere, by a redirect, is not taken, nor a step from https down to http.
 */
export class Addresses {
  /** The deployment's address without the version. */
  readonly root: string;
  readonly #given: Partial<Named> = {};
  #named: Named | null = null;
  #until = 0;
  #asked: Asked | null = null;

  constructor({ url, baseUrl, streamUrl, wsUrl }: AddressOptions, isRelative: boolean) {
    this.root = rootOf('url', url ?? baseUrl ?? '', isRelative);
    if (streamUrl !== undefined)
      this.#given.streamRoot = rootOf('streamUrl', streamUrl, isRelative);
    if (wsUrl) this.#given.socket = address('wsUrl', wsUrl, WEBSOCKET);
  }

  /** The address of streams without the version; until the deployment has named it, its own. */
  get streamRoot(): string {
    return this.#given.streamRoot ?? this.#named?.streamRoot ?? this.root;
  }

  /**
   * Returns an address for paths; a promise if the deployment must be asked.
   * @param signal ends the wait
   */
  of(base: Base, ask: Ask, signal?: AbortSignal): string | Promise<string> {
    if (base === 'root') return this.root;
    if (base === 'api') return this.root + VERSION;
    const path = base === 'stream' ? VERSION : '';
    const found = this.#find('streamRoot', ask, signal);
    return typeof found === 'string' ? found + path : found.then((root) => root + path);
  }

  /** Returns the address of the WebSocket API; a promise if the deployment must be asked. */
  socket(ask: Ask, signal?: AbortSignal): string | Promise<string> {
    return this.#find('socket', ask, signal);
  }

  #find(name: keyof Named, ask: Ask, signal?: AbortSignal): string | Promise<string> {
    const known = this.#given[name] ?? (Date.now() < this.#until && this.#named?.[name]);
    return known || this.#wait(ask, signal).then((named) => named[name]);
  }

  // Calls at the same time share a question, which ends when none waits any more.
  async #wait(ask: Ask, signal?: AbortSignal): Promise<Named> {
    signal?.throwIfAborted();
    this.#asked ??= this.#begin(ask);
    const asked = this.#asked;
    asked.waiting++;
    try {
      return await until(asked.named, signal);
    } finally {
      if (--asked.waiting === 0) {
        if (this.#asked === asked) this.#asked = null;
        asked.controller.abort();
      }
    }
  }

  #begin(ask: Ask): Asked {
    const controller = new AbortController();
    return { named: this.#refresh(ask, controller.signal), controller, waiting: 0 };
  }

  // A failure is not remembered, and leaves what was known.
  async #refresh(ask: Ask, signal: AbortSignal): Promise<Named> {
    try {
      this.#named = await this.#read(() => ask(signal));
    } catch (error) {
      if (!this.#named || signal.aborted) throw error;
    }
    this.#until = Date.now() + LASTS;
    return this.#named;
  }

  async #read(ask: () => Promise<string>): Promise<Named> {
    try {
      const { data } = JSON.parse(await ask());
      const [http, socket] = isSecure(this.root) ? [/^https:/i, /^wss:/i] : [/./, /./];
      return {
        streamRoot: rootOf('stream_url', matched(http, data.stream_url), false),
        socket: address('websocket_url', matched(socket, data.websocket_url), WEBSOCKET),
      };
    } catch (error) {
      if (error instanceof RethreadError && !isElsewhere(error)) throw error;
      const at = this.root + VERSION;
      throw new ArgumentError(`url: ${at} does not name the others: pass streamUrl and wsUrl`);
    }
  }
}

/** Whether an answer says that the document is not there: a redirect has status 0 in browsers. */
function isElsewhere(error: RethreadError): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return false;
  return error.status < 400 || error.status === 404;
}

/** Whether an address, which a page may complete, is one of https. */
function isSecure(url: string): boolean {
  return new URL(url || '/', globalThis.location?.href ?? 'http://-').protocol === 'https:';
}

function matched(form: RegExp, value: unknown): string {
  return form.test(String(value)) ? String(value) : '';
}

function rootOf(name: string, url: string, isRelative: boolean): string {
  const whole = address(name, url, HTTP, isRelative).replace(/\/+$/, '');
  return whole.endsWith(VERSION) ? whole.slice(0, -VERSION.length) : whole;
}
