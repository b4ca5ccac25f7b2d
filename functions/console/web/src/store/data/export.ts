// Exports sessions, one after another, each written while it arrives.

import { batch, signal } from '@preact/signals-core';
import { ConnectionError } from 'rethread';
import type { Api } from '../../api/client';
import { errorText } from '../../api/error';
import { fileNameOf, type Open, type Sink } from './sink';

export interface Exported {
  id: string;
  name: string;
}

export interface Failed {
  session: Exported;
  reason: string;
}

const TRIES = 3; // a session that changes meanwhile is exported again
const END = 64; // bytes at the end of a document that say whether it is complete

export class Exporting {
  readonly running = signal(false);
  /** Numbers of sessions; the total is null while they are listed. */
  readonly total = signal<number | null>(null);
  readonly done = signal(0);
  readonly bytes = signal(0);
  readonly failed = signal<readonly Failed[]>([]);
  /** Why the whole export has ended early; '' if it has not. */
  readonly stopped = signal('');
  /** Whether there is something to say about the export. */
  readonly begun = signal(false);

  readonly #api: Api;
  #abort = new AbortController();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Exports sessions, by default all that the user owns. */
  async start(open: Open, sessions?: readonly Exported[]): Promise<void> {
    if (this.running.value) return;
    this.#abort = new AbortController();
    batch(() => {
      this.begun.value = this.running.value = true;
      this.done.value = this.bytes.value = 0;
      this.failed.value = [];
      this.stopped.value = '';
      this.total.value = sessions?.length ?? null;
    });
    try {
      await this.#all(open, sessions ?? (await this.#list()));
    } catch (error) {
      this.stopped.value = this.#abort.signal.aborted
        ? 'The export was cancelled.'
        : errorText(error);
    } finally {
      this.running.value = false;
    }
  }

  cancel(): void {
    this.#abort.abort();
  }

  // All of them first, because an answer would move a session to a page that was read before.
  async #list(): Promise<Exported[]> {
    const found = new Map<string, Exported>();
    const { signal } = this.#abort;
    for await (const { id, name } of this.#api.sessions.list({ limit: 200 }, { signal })) {
      found.set(id, { id, name });
    }
    return [...found.values()];
  }

  async #all(open: Open, sessions: readonly Exported[]): Promise<void> {
    this.total.value = sessions.length;
    const taken = new Set<string>();
    for (const session of sessions) {
      const file = fileNameOf(session, taken);
      try {
        await this.#one(session, () => open(file));
        this.done.value++;
      } catch (error) {
        // Without a connection or a place to write to, the others would fail too
        if (this.#abort.signal.aborted || isGeneral(error)) throw error;
        this.failed.value = [...this.failed.value, { session, reason: errorText(error) }];
      }
    }
  }

  async #one({ id }: Exported, open: () => Promise<Sink>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const { signal } = this.#abort;
      const response = await this.#api.sessions.export(id, { signal });
      const sink = await open().catch((error) => {
        void response.body?.cancel();
        throw error;
      });
      try {
        if (await this.#copy(response, sink)) return await sink.close();
      } catch (error) {
        await sink.abort();
        throw signal.aborted ? signal.reason : error;
      }
      await sink.abort();
      if (tries === TRIES) throw new Error('It changes while it is exported.');
    }
  }

  /** Returns whether the document is complete. */
  async #copy({ body }: Response, sink: Sink): Promise<boolean> {
    let end = new Uint8Array();
    const reader = body?.getReader();
    for (;;) {
      const read = await reader?.read().catch((error) => {
        throw new ConnectionError(error);
      });
      if (!read?.value) return /"complete"\s*:\s*true\s*\}\s*$/.test(new TextDecoder().decode(end));
      await sink.write(read.value);
      this.bytes.value += read.value.length;
      end = joined(end, read.value).slice(-END);
    }
  }
}

const isGeneral = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof DOMException ||
  (error instanceof Error && error.name === 'SignedOut');

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const end = b.subarray(-END);
  const all = new Uint8Array(a.length + end.length);
  all.set(a);
  all.set(end, a.length);
  return all;
}
