// Streams of the front ends' endpoints, which the entries `rethread/ai-sdk` and `rethread/ag-ui` read.

import type { Call, Transport } from './transport.js';

/** A request below the address of these endpoints. */
export type StreamCall = Pick<
  Call,
  'method' | 'path' | 'params' | 'query' | 'json' | 'attempts'
> & {
  /** Further headers, besides those that each request has. */
  headers?: HeadersInit | undefined;
};

/** The events of a page that is visible or online again. */
export interface Page {
  document?: Pick<Document, 'addEventListener' | 'removeEventListener' | 'visibilityState'>;
  window?: Pick<Window, 'addEventListener' | 'removeEventListener'>;
}

export class Streams {
  /** The page whose events end a wait; empty outside of browsers. */
  readonly page: Page;
  readonly #transport: Transport;

  constructor(transport: Transport, page: Page) {
    this.#transport = transport;
    this.page = page;
  }

  get random(): () => number {
    return this.#transport.random;
  }

  /** The address below which the endpoints are, as far as it is known: requests find it. */
  get url(): string {
    return this.#transport.addresses.streamRoot;
  }

  /**
   * Sends a request and returns the response when its headers arrive; rejects with a RethreadError.
   * Both kinds of requests can be repeated: the server recognises the run of a request.
   */
  request(call: StreamCall, signal?: AbortSignal): Promise<Response> {
    const headers = new Headers(call.headers);
    for (const own of ['Authorization', 'Content-Type']) headers.delete(own);
    return this.#transport.call(
      {
        ...call,
        headers: Object.fromEntries(headers),
        base: 'streamRoot',
        repeat: 'safe',
        stream: true,
      },
      async (response) => response,
      signal && { signal },
    );
  }
}
