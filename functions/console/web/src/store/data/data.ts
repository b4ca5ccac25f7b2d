// The user's exports, imports and deletion. They go on while other pages of the console are open, and
// end when the user signs out.

import { computed, effect, signal } from '@preact/signals-core';
import type { App } from '../app';
import type { Sessions } from '../sessions';
import { Erasing } from './erase';
import { Exporting } from './export';
import { Importing } from './import';

export class Data {
  /** The export of all sessions. */
  readonly exporting: Exporting;
  /** The export of one session. */
  readonly one: Exporting;
  readonly erasing: Erasing;
  readonly imports = signal<readonly Importing[]>([]);
  /** Whether leaving the page would interrupt something. */
  readonly busy = computed(
    () =>
      this.exporting.running.value || this.one.running.value || this.imports.value.some(isUnderWay),
  );

  readonly #app: App;
  #last: Promise<void> = Promise.resolve(); // imports are made one after another

  constructor(app: App) {
    this.#app = app;
    this.exporting = new Exporting(app.api);
    this.one = new Exporting(app.api);
    this.erasing = new Erasing(app.api);
    effect(() => {
      if (this.busy.value) addEventListener('beforeunload', warn);
      else removeEventListener('beforeunload', warn);
    });
  }

  /** Imports files; as copies, with new ids, if the originals exist. */
  import(files: Iterable<File>, copy: boolean): void {
    const added = [...files].map((file) => new Importing(this.#app.api, file, copy));
    this.imports.value = [...this.imports.value, ...added];
    for (const one of added) this.queue(one, () => one.run());
  }

  /** Runs an import when those before it have ended. */
  queue(one: Importing, run: () => Promise<void>): void {
    if (one.state.value !== 'running') one.state.value = 'waiting';
    this.#last = this.#last.then(async () => {
      if (one.state.value !== 'waiting') return; // cancelled meanwhile
      await run();
      if (one.session.value) this.#app.sessions.peek()?.changed();
    });
  }

  forget(one: Importing): void {
    this.imports.value = this.imports.value.filter((other) => other !== one);
  }

  /** Requests the deletion of everything; the page forgets it too. */
  async erase(): Promise<void> {
    await this.erasing.start();
    this.#app.close();
    this.#app.drafts.clear();
    this.#app.sessions.peek()?.changed();
  }

  /** Ends everything that the page does; imports are kept by the server for a day. */
  stop(): void {
    this.exporting.cancel();
    this.one.cancel();
    this.erasing.stop();
    for (const one of this.imports.peek()) if (isUnderWay(one)) one.interrupt();
  }
}

const isUnderWay = ({ state }: Importing): boolean =>
  state.value === 'running' || state.value === 'waiting';

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

const known = new WeakMap<Sessions, Data>(); // there is a new list of sessions for each sign-in

/** The data of the signed-in user. */
export function dataOf(app: App): Data {
  const sessions = app.sessions.peek();
  if (!sessions) throw new Error('nobody is signed in');
  const found = known.get(sessions);
  if (found) return found;
  const data = new Data(app);
  known.set(sessions, data);
  const end = effect(() => {
    if (app.sessions.value === sessions) return;
    data.stop();
    end();
  });
  return data;
}
