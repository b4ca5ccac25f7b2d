// The stream of a run, for one reader.

import type { Rethread } from '../client.js';
import { RethreadError, TimeoutError } from '../http/errors.js';
import { follow, type Opened, type Source } from './follow.js';

const STOP_TIMEOUT = 60_000; // milliseconds until the run of an aborted request is known

/** A run, by its session and its id. */
export interface RunRef {
  session: string;
  run: string;
}

export abstract class RunStream<E> implements Source<E> {
  protected readonly client: Rethread;
  #run: RunRef | null = null;
  #named = () => {};
  readonly #isNamed = new Promise<void>((resolve) => {
    this.#named = resolve;
  });
  readonly #controller = new AbortController();
  readonly #ended: () => void;
  readonly #events: AsyncGenerator<E>;
  #isOpen = true;
  #isRead = false;

  /** @param ended called when nothing of the stream remains */
  constructor(client: Rethread, ended: () => void) {
    this.client = client;
    this.#ended = ended;
    this.#events = this.#follow();
  }

  abstract open(again: boolean, signal: AbortSignal): Promise<Opened<E> | null>;
  abstract connect(): void;
  abstract take(event: E): E[] | null;
  abstract isLast(event: E): boolean;

  /** The run, once the server has named it. */
  protected get run(): RunRef | null {
    return this.#run;
  }

  protected set run(run: RunRef) {
    this.#run = run;
    this.#named();
  }

  /** Whether the reader has the stream already. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /**
   * Returns the events, or null if there is nothing to read. `aborted` is called when the signal is
   * aborted before the end; it has to call `leave` or `stop`.
   */
  async read(
    signal: AbortSignal | undefined,
    aborted: () => void,
  ): Promise<ReadableStream<E> | null> {
    if (signal?.aborted) {
      this.#ended();
      throw signal.reason;
    }
    let fail: ((reason: unknown) => void) | null = null;
    signal?.addEventListener('abort', () => {
      if (this.#isOpen) aborted();
      fail?.(signal.reason);
    });
    const next = () =>
      new Promise<IteratorResult<E>>((resolve, reject) => {
        fail = reject;
        if (signal?.aborted) reject(signal.reason);
        else this.#events.next().then(resolve, reject);
      });
    let first: IteratorResult<E> | null = await next();
    if (first.done) return null;
    this.#isRead = true;
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = first ?? (await next());
        first = null;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => {
        if (!signal?.aborted) this.leave();
      },
    });
  }

  /** Ends the stream. Its run goes on. */
  leave(): void {
    this.#controller.abort(new DOMException('The stream was left.', 'AbortError'));
  }

  /** Cancels the run, which an unanswered request may be about to begin, and ends the stream. */
  async stop(): Promise<void> {
    const late = setTimeout(
      () => this.#controller.abort(new TimeoutError(STOP_TIMEOUT)),
      STOP_TIMEOUT,
    );
    try {
      await Promise.race([this.#isNamed, this.#readOn()]);
    } catch (error) {
      // A request that was refused has begun no run.
      if (!(error instanceof RethreadError) || error.status < 400 || error.status > 499)
        throw error;
    } finally {
      clearTimeout(late);
      this.leave();
    }
    if (this.run)
      await this.client.runs.cancel(this.run.session, this.run.run, { onFailed: 'keep' });
  }

  async #readOn(): Promise<void> {
    for (let ended: boolean | undefined = false; !this.run && !ended; )
      ended = (await this.#events.next()).done;
  }

  async *#follow(): AsyncGenerator<E> {
    const release = this.client.onClose(() => this.leave());
    try {
      yield* follow(this.client.streams, this, this.#controller.signal);
    } finally {
      this.#isOpen = false;
      this.#controller.abort(); // the connection of a stream that has ended, too
      release();
      this.#ended();
    }
  }
}
