// A fake of the API at the level of fetch and WebSocket, so that the real client and stores run. Routes
// and answers have the types of infra/openapi.yaml: one that the contract does not have is no program.

import type { components, paths, WatchMessage } from 'rethread';

type Methods = 'get' | 'post' | 'put' | 'patch' | 'delete';
type OperationOf<P extends keyof paths, M extends Methods> = M extends keyof paths[P]
  ? NonNullable<paths[P][M]>
  : never;

/** A method and path of the contract, such as `GET /sessions/{session_id}`. */
export type Route = {
  [P in keyof paths]: {
    [M in Methods]: [OperationOf<P, M>] extends [never] ? never : `${Uppercase<M>} ${P}`;
  }[Methods];
}[keyof paths];

type Of<R extends Route> = R extends `${infer M} ${infer P extends keyof paths}`
  ? OperationOf<P, Lowercase<M> & Methods>
  : never;

type BodyOf<Response> = Response extends { content: infer C } ? C[keyof C] : undefined;
type Headers = Record<string, string>;

/** A status of the contract with its body, and headers. */
export type AnswerOf<R extends Route> =
  Of<R> extends { responses: infer All }
    ? {
        [S in keyof All]: undefined extends BodyOf<All[S]>
          ? [status: S, body?: undefined, headers?: Headers]
          : [status: S, body: BodyOf<All[S]>, headers?: Headers];
      }[keyof All]
    : never;

type InputOf<R extends Route> =
  Of<R> extends { requestBody?: infer Body }
    ? NonNullable<Body> extends { content: { 'application/json': infer Json } }
      ? Json
      : unknown
    : unknown;

export interface Asked<Body = unknown> {
  route: string;
  path: string;
  /** The parameters in the path, in order. */
  params: string[];
  query: Record<string, string>;
  headers: globalThis.Headers;
  body: Body;
}

type Handler<R extends Route> = (
  asked: Asked<InputOf<R>>,
  next: () => Promise<AnswerOf<R>>,
) => AnswerOf<R> | Promise<AnswerOf<R>>;

// As members, so that a handler is checked against the answers of its own route.
type Handlers = { [R in Route]: Handler<R> };

type Reply = [status: number, body?: unknown, headers?: Headers];
interface Rule {
  route: string;
  path: RegExp;
  handle: (asked: Asked, next: () => Promise<Reply>) => Reply | Promise<Reply>;
}

/** A code of each status, since the client tells errors apart by their codes. */
const CODES: Record<number, components['schemas']['Problem']['code']> = {
  400: 'malformed_request',
  403: 'forbidden',
  404: 'session_not_found',
  409: 'run_active',
  412: 'version_changed',
  422: 'invalid_field',
};

/** A refusal as the contract has it. */
export function problem<S extends number>(
  status: S,
  detail: string,
  errors?: components['schemas']['FieldError'][],
): [status: S, body: components['schemas']['Problem']] {
  return [
    status,
    {
      type: `https://github.com/rethread/rethread/blob/main/docs/errors.md#${CODES[status] ?? 'internal_error'}`,
      code: CODES[status] ?? 'internal_error',
      title: 'Refused',
      status,
      detail,
      ...(errors && { errors }),
    },
  ];
}

export abstract class FakeApi {
  /** Sends what a new watcher of a session has missed since a cursor. */
  abstract catchUp(session: string, cursor: string): void;

  /** All requests. */
  readonly asked: Asked[] = [];
  /** Requests that no route takes. */
  readonly unknown: string[] = [];
  readonly #rules: Rule[] = [];
  readonly #sockets = new Set<FakeSocket>();

  /** Answers a route from now on; `next` gives the answer of before. */
  on<R extends Route>(route: R, handle: Handlers[R]): void {
    this.#add(route, handle as unknown as Rule['handle']);
  }

  #add(route: string, handle: Rule['handle']): void {
    const [method = '', path = ''] = route.split(' ');
    const parts = path.split('/').map((part) => part.replace(/^\{path\}$/, '(.+)'));
    const pattern = parts.map((part) => part.replace(/^\{\w+\}$/, '([^/]+)')).join('/');
    this.#rules.unshift({ route, path: new RegExp(`^${method} ${pattern}$`), handle });
  }

  /** Answers the next requests of a route only when `release` is called. */
  hold(route: Route): { waiting: () => number; release: () => void } {
    let waiting = 0;
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#add(route, async (_, next) => {
      waiting++;
      await gate;
      return next();
    });
    return { waiting: () => waiting, release: open };
  }

  /** The requests of a route. */
  askedFor<R extends Route>(route: R): Asked<InputOf<R>>[] {
    return this.asked.filter((asked) => asked.route === route) as Asked<InputOf<R>>[];
  }

  /** Sends a message to those who watch a session. */
  push(session: string, message: WatchMessage): void {
    for (const socket of this.#sockets) socket.push(session, message);
  }

  readonly fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (url.pathname === '/dev/token') return Response.json({ token: TOKEN });
    const path = url.pathname.replace('/api/v1', '');
    const text = await request.text();
    const json = request.headers.get('Content-Type')?.includes('json') && text !== '';
    const asked: Asked = {
      route: '',
      path,
      params: [],
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: json ? JSON.parse(text) : text,
    };
    this.asked.push(asked);
    const [status, body, headers] = await this.#answer(`${request.method} ${path}`, asked);
    if (init?.signal?.aborted) throw init.signal.reason;
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    return new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { 'Content-Type': type, ...headers },
    });
  };

  #answer(line: string, asked: Asked): Promise<Reply> {
    const fitting = this.#rules.filter(({ path }) => path.test(line));
    const [first] = fitting;
    if (!first) {
      this.unknown.push(line);
      return Promise.resolve(problem(404, `the fake has no ${line}`));
    }
    asked.route = first.route;
    asked.params = (first.path.exec(line) ?? []).slice(1).map(decodeURIComponent);
    const run = async (at: number): Promise<Reply> =>
      fitting[at]?.handle(asked, () => run(at + 1)) ?? problem(404, 'there is no such thing');
    return run(0);
  }

  /** The class of sockets over which this API sends its messages. */
  get WebSocket(): typeof FakeSocket {
    const sockets = this.#sockets;
    const catchUp = (session: string, cursor: string) => this.catchUp(session, cursor);
    return class extends FakeSocket {
      constructor() {
        super();
        sockets.add(this);
        this.catchUp = catchUp;
      }
    };
  }
}

// A socket that opens at once, and answers as the WebSocket API does.
class FakeSocket extends EventTarget {
  catchUp: FakeApi['catchUp'] = () => {};
  readonly #sessions = new Set<string>();

  constructor() {
    super();
    queueMicrotask(() => this.dispatchEvent(new Event('open')));
  }

  send(data: string): void {
    const { action, session_id, request_id, cursor } = JSON.parse(data);
    const subscribes = action === 'subscribe';
    if (subscribes) this.#sessions.add(session_id);
    queueMicrotask(() => {
      this.#receive({ type: subscribes ? 'subscribed' : 'pong', session_id, request_id });
      if (subscribes) this.catchUp(session_id, cursor);
    });
  }

  close(): void {
    this.#sessions.clear();
  }

  push(session: string, message: WatchMessage): void {
    if (this.#sessions.has(session)) this.#receive({ ...message, session_id: session });
  }

  #receive(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }
}

// An unsigned token that never expires.
const part = (value: object) => btoa(JSON.stringify(value)).replace(/=+$/, '');
const TOKEN = `${part({ alg: 'none' })}.${part({ sub: 'alice', exp: 1e10 })}.`;
