// Sends requests: adds the token, limits the time, and repeats what is safe to repeat.

import { Addresses, type AddressOptions, type Base } from './addresses.js';
import { segment, sendable } from './arguments.js';
import { errorOf } from './error-of.js';
import { ConnectionError, RethreadError, TimeoutError } from './errors.js';
import { type TokenSource, Tokens } from './token.js';
import { jitter, sleep, uuid, within } from './wait.js';

const TIMEOUT = 60_000; // milliseconds for a call with all its attempts
const ATTEMPT_TIMEOUT = 30_000; // milliseconds; the gateway answers within that time
const MAX_ATTEMPTS = 5;
const PLAIN = 4 << 20; // bytes; a request may have 6 MB, and its body may be base64

export interface TransportOptions extends AddressOptions {
  token: TokenSource;
  /** The user that a service acts for; by default the token's. Pages of browsers cannot send it. */
  user?: string;
  /** Replaces the global fetch. */
  fetch?: typeof globalThis.fetch;
  /** Milliseconds for a call with all its attempts; by default 60,000. */
  timeout?: number;
  /** Replaces Math.random, which spreads retries. */
  random?: () => number;
}

/** Options of each call. */
export interface CallOptions {
  /** Aborts the call; it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Milliseconds for the call with all its attempts. */
  timeout?: number;
  /** Called with the successful response, for its headers. Its body is not for the callee. */
  onResponse?: (response: Response) => void;
}

/** Options of a write that the server recognises when it is repeated. */
export interface WriteOptions extends CallOptions {
  /**
   * 1 to 255 visible characters that identify the write for 24 hours; by default a new UUID for each
   * call. Pass a stored key to repeat a write after a reload.
   */
  idempotencyKey?: string;
}

/** Options of a change. */
export interface ChangeOptions extends CallOptions {
  /** The ETag of the version to change; another version is a PreconditionFailedError. */
  ifMatch?: string;
}

/**
 * Which requests can be sent again. `safe`: any. `key`: any, because the server recognises the
 * idempotency key. `delete`: any, and a repeat that finds nothing was successful. `refused`: only
 * those that the server has refused with 429, which changes nothing.
 */
export type Repeat = 'safe' | 'key' | 'delete' | 'refused';

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, with `{}` for each of `params`. */
  path: string;
  params?: readonly (string | number)[];
  query?: object | undefined;
  json?: unknown;
  bytes?: Blob;
  headers?: Record<string, string>;
  repeat: Repeat;
  /** The address that the path is appended to, `api` by default. */
  base?: Base;
  /** Whether it has no token, and follows no redirect. */
  isPublic?: boolean;
  /** The largest number of attempts; by default 5. */
  attempts?: number;
  /** The body is read after the call, without a time limit. */
  stream?: boolean;
}

type AnyOptions = WriteOptions & ChangeOptions;

export class Transport {
  readonly addresses: Addresses;
  readonly tokens: Tokens;
  readonly random: () => number;
  readonly #options: TransportOptions;

  /** @param addresses those of another client of the deployment */
  constructor(options: TransportOptions, addresses?: Addresses) {
    this.#options = options;
    // A page completes addresses that begin with a slash, and so may another fetch.
    const isRelative = 'location' in globalThis || options.fetch !== undefined;
    this.addresses = addresses ?? new Addresses(options, isRelative);
    this.tokens = new Tokens(options.token);
    this.random = options.random ?? Math.random;
  }

  /** Asks the deployment for its addresses. */
  readonly ask = (signal: AbortSignal): Promise<string> => {
    const call = { method: 'GET', path: '', repeat: 'safe', isPublic: true } as const;
    return this.call(call, (response) => response.text(), { signal });
  };

  /** Like the global fetch, with the user's token; a rejected token is renewed once. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    return this.#authorized((token) => {
      const copy = request.clone(); // a body can be sent only once
      for (const [name, value] of Object.entries(this.#identity(token)))
        copy.headers.set(name, value);
      return this.#send(copy);
    });
  };

  /** Makes a call and returns the body that `read` reads from the response. */
  async call<T>(
    call: Call,
    read: (response: Response) => Promise<T>,
    options: AnyOptions = {},
  ): Promise<T> {
    const timeout = options.timeout ?? this.#options.timeout ?? TIMEOUT;
    const end = Date.now() + timeout;
    const path = pathOf(call);
    const init = await requestOf(call, options);
    const url = (await this.#base(call.base, timeout, options.signal)) + path;
    for (let failures = 0; ; ) {
      const bound = Math.min(Math.max(1, end - Date.now()), ATTEMPT_TIMEOUT);
      const attempt = (signal: AbortSignal) =>
        this.#attempt(url, { ...init, signal }, call, read, options, failures > 0);
      try {
        return await within(bound, options.signal, attempt, call.stream);
      } catch (error) {
        failures++;
        const delay = this.#delay(error, call, options, failures);
        if (
          delay === null ||
          failures >= (call.attempts ?? MAX_ATTEMPTS) ||
          Date.now() + delay >= end
        )
          throw error;
        await sleep(delay, options.signal);
      }
    }
  }

  /** Returns what paths are appended to. Most calls need not wait for it. */
  #base(base: Base = 'api', timeout: number, signal?: AbortSignal): string | Promise<string> {
    if (base === 'api') return this.addresses.of(base, this.ask);
    return within(timeout, signal, async (limited) => this.addresses.of(base, this.ask, limited));
  }

  async #attempt<T>(
    url: string,
    init: RequestInit,
    call: Call,
    read: (response: Response) => Promise<T>,
    options: AnyOptions,
    again: boolean,
  ): Promise<T> {
    const send = (identity: Record<string, string>) => {
      const headers = { ...(init.headers as Record<string, string>), ...identity };
      return this.#send(url, { ...init, headers });
    };
    const response = call.isPublic
      ? await this.#send(url, { ...init, redirect: 'manual' })
      : await this.#authorized((token) => send(this.#identity(token)));
    const done = response.ok || (again && call.repeat === 'delete' && response.status === 404);
    if (!done) throw await errorOf(response);
    options.onResponse?.(response);
    return readBody(() => read(response));
  }

  #identity(token: string): Record<string, string> {
    const { user } = this.#options;
    const headers = { Authorization: `Bearer ${token}` };
    return user ? { ...headers, 'Rethread-User': encodeURIComponent(user) } : headers;
  }

  /** Sends a request with a token, and once more with another if the first is rejected. */
  async #authorized(send: (token: string) => Promise<Response>): Promise<Response> {
    const token = await this.tokens.get();
    const response = await send(token);
    if (response.status !== 401) return response;
    const renewed = await this.tokens.get(token);
    if (renewed === token) return response;
    await response.body?.cancel();
    return send(renewed);
  }

  async #send(input: RequestInfo, init?: RequestInit): Promise<Response> {
    const fetch = this.#options.fetch ?? globalThis.fetch;
    try {
      return await fetch(input, init);
    } catch (error) {
      const signal = input instanceof Request ? input.signal : init?.signal;
      throw signal?.aborted ? signal.reason : new ConnectionError(error);
    }
  }

  /** Milliseconds before another attempt; null if there must be none. */
  #delay(error: unknown, { repeat }: Call, options: AnyOptions, failures: number): number | null {
    if (!(error instanceof RethreadError) || options.signal?.aborted) return null;
    const { status, retryAfter } = error;
    const refused = status === 429;
    const executing = status === 409 && repeat === 'key' && retryAfter !== undefined;
    const unknown =
      error instanceof ConnectionError ||
      error instanceof TimeoutError ||
      [502, 503, 504].includes(status);
    // A conditional change that succeeded would fail when it is repeated.
    const repeatable = repeat !== 'refused' && options.ifMatch === undefined;
    if (!refused && !executing && !(unknown && repeatable)) return null;
    return Math.max(retryAfter ?? 0, jitter(failures - 1, this.random));
  }
}

/** Reads a body; a connection that breaks in the middle is a ConnectionError. */
async function readBody<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof RethreadError ? error : new ConnectionError(error);
  }
}

async function requestOf(call: Call, options: AnyOptions): Promise<RequestInit> {
  const headers: Record<string, string> = { ...call.headers };
  if (call.repeat === 'key') headers['Idempotency-Key'] = options.idempotencyKey ?? uuid();
  if (options.ifMatch !== undefined) headers['If-Match'] = options.ifMatch;
  if (call.json !== undefined) headers['Content-Type'] = 'application/json';
  for (const [name, value] of Object.entries(headers)) sendable(`header ${name}`, value);
  const init = { method: call.method, headers };
  const body = call.json === undefined ? call.bytes : JSON.stringify(call.json);
  if (body === undefined) return init;
  const compressible = typeof CompressionStream === 'function'; // not in every edge runtime
  if (!compressible || !isLarge(body)) return { ...init, body };
  headers['Content-Encoding'] = 'gzip';
  return { ...init, body: await gzip(typeof body === 'string' ? new Blob([body]) : body) };
}

/** Whether a body has more bytes than are sent uncompressed. */
function isLarge(body: string | Blob): boolean {
  if (typeof body !== 'string') return body.size > PLAIN;
  // A UTF-16 code unit takes at most 3 bytes, so that most texts need not be encoded to be measured
  return 3 * body.length > PLAIN && new TextEncoder().encode(body).length > PLAIN;
}

function gzip(bytes: Blob): Promise<ArrayBuffer> {
  return new Response(bytes.stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
}

function pathOf({ path, params = [], query = {} }: Call): string {
  let next = 0;
  const filled = path.replace(/\{\}/g, () => segment(params[next++]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return filled + (text && `?${text}`);
}
