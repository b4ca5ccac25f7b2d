// State outside of React that hooks subscribe to.

/**
 * A store works while it has subscribers. It stops a moment after the last one has gone, so that
 * effects that run twice, as in React's strict mode, do not interrupt it, and forgets its state.
 */
export abstract class Store<State> {
  readonly #initial: State;
  readonly #listeners = new Set<() => void>();
  #state: State;
  #running = false;
  #stopping: ReturnType<typeof setTimeout> | undefined;

  constructor(initial: State) {
    this.#initial = initial;
    this.#state = initial;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    clearTimeout(this.#stopping);
    this.#listeners.add(listener);
    if (!this.#running) {
      this.#running = true;
      this.start();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopping = setTimeout(() => this.#stop(), 0);
    };
  };

  /** The state; the same object until it changes. */
  readonly get = (): State => this.#state;

  /** The state before anything is known, as on a server. */
  readonly getInitial = (): State => this.#initial;

  protected get running(): boolean {
    return this.#running;
  }

  protected set(change: Partial<State>): void {
    if (!this.#running) return;
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  protected abstract start(): void;
  protected abstract stop(): void;

  #stop(): void {
    if (!this.#running || this.#listeners.size > 0) return;
    this.#running = false;
    this.#state = this.#initial;
    this.stop();
  }
}
