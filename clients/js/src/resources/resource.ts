// The base of all resources.

import { List, type Page } from '../http/list.js';
import type {
  Call,
  CallOptions,
  ChangeOptions,
  Transport,
  WriteOptions,
} from '../http/transport.js';

type Options = WriteOptions & ChangeOptions;
type Query = object & { cursor?: string };

export abstract class Resource {
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Makes a call and returns the member `data` of the answer. */
  protected async data<T>(call: Call, options?: Options): Promise<T> {
    return (await this.body<{ data: T }>(call, options)).data;
  }

  /** Makes a call and returns the answer. */
  protected body<T>(call: Call, options?: Options): Promise<T> {
    return this.transport.call<T>(call, (response) => response.json(), options);
  }

  /** Makes a call whose answer is of no interest. */
  protected async done(call: Call, options?: Options): Promise<void> {
    await this.transport.call(call, (response) => response.arrayBuffer(), options);
  }

  /** A list whose pages have `data` and `meta`. */
  protected entries<T>(
    path: string,
    params: string[],
    query?: Query,
    options?: CallOptions,
  ): List<T> {
    type Answer = { data: T[]; meta: { next_cursor: string | null } };
    return this.pages<T, Answer>(path, params, query, options, ({ data, meta }) => ({
      data,
      next_cursor: meta.next_cursor,
    }));
  }

  /** A list with pages of another form. */
  protected pages<T, Answer>(
    path: string,
    params: string[],
    query: Query | undefined,
    options: CallOptions | undefined,
    page: (answer: Answer, response: Response) => Page<T>,
  ): List<T> {
    return new List(query?.cursor, async (cursor) => {
      const [answer, response] = await this.transport.call<[Answer, Response]>(
        { method: 'GET', path, params, query: { ...query, cursor }, repeat: 'safe' },
        async (response) => [await response.json(), response],
        options,
      );
      return page(answer, response);
    });
  }
}
