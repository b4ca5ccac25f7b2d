// The client of a deployment.

import type { Addresses } from './http/addresses.js';
import { Streams } from './http/streams.js';
import { Transport } from './http/transport.js';
import { A2A } from './resources/a2a.js';
import { Me, Shares } from './resources/account.js';
import type { Answer } from './resources/answers.js';
import { Artifacts } from './resources/artifacts.js';
import { Automations, Webhooks } from './resources/hooks.js';
import { Imports } from './resources/imports.js';
import { Events, Threads } from './resources/log.js';
import { type AskOptions, Runs } from './resources/runs.js';
import { Sessions, States } from './resources/sessions.js';
import { Feedbacks, Messages, Tasks } from './resources/tasks.js';
import type { Event } from './types.js';
import type { Watching, WatchOptions } from './watch/options.js';
import { globals, Watcher, type WatcherOptions } from './watch/watcher.js';

export interface RethreadOptions extends WatcherOptions {}

/**
 * A client of a deployment, for one user at a time.
 *
 * Calls reject with a RethreadError, with the reason of an aborted signal, or with what the token's
 * source threw; with an ArgumentError there was no request. A request that is safe to repeat is sent up to five times within the call's time limit:
 * after a failed connection, 429, 502, 503 and 504. `Retry-After` sets the wait if the answer has it.
 */
export class Rethread {
  readonly sessions: Sessions;
  readonly state: States;
  readonly events: Events;
  readonly thread: Threads;
  readonly runs: Runs;
  readonly artifacts: Artifacts;
  readonly tasks: Tasks;
  readonly messages: Messages;
  readonly feedback: Feedbacks;
  readonly shares: Shares;
  readonly imports: Imports;
  readonly webhooks: Webhooks;
  readonly automations: Automations;
  readonly me: Me;
  readonly a2a: A2A;
  /** Like the global fetch, with the user's token; a rejected token is renewed once. */
  readonly fetch: typeof globalThis.fetch;
  /** @internal What the entries `rethread/ai-sdk` and `rethread/ag-ui` read. */
  readonly streams: Streams;

  readonly #options: RethreadOptions;
  readonly #transport: Transport;
  readonly #watcher: Watcher;
  readonly #closing = new Set<() => void>();
  readonly #shared = new Map<object, unknown>();

  /** @param addresses those that another client has found; for `withUser` */
  constructor(options: RethreadOptions, addresses?: Addresses) {
    this.#options = options;
    const transport = new Transport(options, addresses);
    this.#transport = transport;
    this.#watcher = new Watcher(options, transport);
    this.fetch = transport.fetch;
    this.sessions = new Sessions(transport);
    this.state = new States(transport);
    this.events = new Events(transport);
    this.thread = new Threads(transport);
    this.runs = new Runs(transport, this);
    this.artifacts = new Artifacts(transport);
    this.tasks = new Tasks(transport);
    this.messages = new Messages(transport);
    this.feedback = new Feedbacks(transport);
    this.shares = new Shares(transport);
    this.imports = new Imports(transport);
    this.webhooks = new Webhooks(transport);
    this.automations = new Automations(transport);
    this.me = new Me(transport);
    this.a2a = new A2A(transport);
    this.streams = new Streams(transport, { ...globals(), ...options.environment });
  }

  /** A client of a service that acts for a user, with the same options. It has its own `close`. */
  withUser(user: string): Rethread {
    return new Rethread({ ...this.#options, user }, this.#transport.addresses);
  }

  /**
   * Asks the session's agent, streams the answer to `onText`, and returns it when the run is over:
   * the same as `runs.ask`. It watches the session.
   */
  ask(sessionId: string, text: string, options?: AskOptions): Promise<Answer> {
    return this.runs.ask(sessionId, text, options);
  }

  /**
   * Watches a session live until `close` or a final error. It retries all other failures, and
   * reconnects when the page becomes visible or the network returns. It throws a TypeError where
   * there is no WebSocket.
   */
  watch<Item = Event>(sessionId: string, options: WatchOptions<Item>): Watching {
    return this.#watcher.watch(sessionId, options);
  }

  /**
   * Ends all watching, what hooks read again and again, and the streams of `rethread/ai-sdk` and
   * `rethread/ag-ui`, whose runs go on; no connection, timer or listener remains. Calls are still possible.
   */
  close(): void {
    this.#watcher.close();
    for (const end of this.#closing) end();
    this.#closing.clear();
  }

  /** @internal Calls a function when the client is closed, unless the returned one is called before. */
  onClose(end: () => void): () => void {
    this.#closing.add(end);
    return () => this.#closing.delete(end);
  }

  /** @internal Returns what is made once for this client. */
  shared<T>(key: object, make: () => T): T {
    if (!this.#shared.has(key)) this.#shared.set(key, make());
    return this.#shared.get(key) as T;
  }
}
