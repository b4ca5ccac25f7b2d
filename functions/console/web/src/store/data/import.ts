// Imports files, one after another: small ones whole, large ones in parts. A file that failed goes on
// where it stopped, as long as the page is open.

import { batch, signal } from '@preact/signals-core';
import { ConflictError, type Imported, RethreadError, type Session } from 'rethread';
import { type Api, uid } from '../../api/client';
import { errorText } from '../../api/error';
import { NotInParts, type Part, partsOf } from './parts';
import { NotJson } from './scan';

// Bytes of a request; 6 MB pass the gateway, in base64.
const WHOLE = 3_500_000;

let imports = 0; // of this page

export type ImportState = 'waiting' | 'running' | 'failed' | 'done' | 'cancelled';

export class Importing {
  readonly file: File;
  /** Tells it from other imports, also of the same file. */
  readonly number = ++imports;
  readonly state = signal<ImportState>('waiting');
  /** How many bytes of the file the server has, about. */
  readonly sent = signal(0);
  readonly failed = signal('');
  readonly session = signal<Session | null>(null);
  /** Shared values and files that existed with other contents, and were kept. */
  readonly kept = signal<readonly string[]>([]);
  /** Whether a session has the document's id. */
  readonly taken = signal(false);

  readonly #api: Api;
  #id: string | undefined;
  #key = uid();
  #import = ''; // the id of an import in parts that has begun
  #next = 1; // the number of the next part
  #abort = new AbortController();

  constructor(api: Api, file: File, copy: boolean) {
    this.#api = api;
    this.file = file;
    if (copy) this.#id = uid();
  }

  /** Imports the file, from where it stopped. */
  async run(): Promise<void> {
    if (this.state.value === 'running' || this.state.value === 'done') return;
    this.#abort = new AbortController();
    batch(() => {
      this.state.value = 'running';
      this.failed.value = '';
      this.taken.value = false;
    });
    try {
      await this.#send();
      this.state.value = 'done';
    } catch (error) {
      if (this.#abort.signal.aborted) return; // cancelled meanwhile
      batch(() => {
        this.state.value = 'failed';
        this.failed.value = textOf(error);
        this.taken.value = error instanceof ConflictError && this.#import === '';
      });
    }
  }

  /** Imports the file as a copy, under a new id. */
  copy(): Promise<void> {
    this.#id = uid();
    this.#key = uid();
    return this.run();
  }

  /** Stops sending. */
  interrupt(): void {
    this.#abort.abort();
    this.state.value = 'cancelled';
  }

  /** Ends the import, and removes what the server has of it. */
  async cancel(): Promise<void> {
    this.interrupt();
    const begun = this.#import;
    this.#import = '';
    if (begun) await this.#api.imports.abandon(begun);
  }

  async #send(): Promise<void> {
    if (this.file.size <= WHOLE) return this.#sendWhole();
    try {
      await this.#sendParts();
    } catch (error) {
      if (!(error instanceof NotInParts) || this.#import !== '') throw error;
      await this.#sendWhole(); // in another form, which cannot be cut
    }
  }

  async #sendWhole(): Promise<void> {
    let document: unknown;
    try {
      document = JSON.parse(await this.file.text());
    } catch {
      throw new NotJson('The file is no JSON document.');
    }
    this.#take(await this.#first(document));
  }

  async #sendParts(): Promise<void> {
    let number = 0;
    for await (const part of partsOf(this.file, WHOLE)) {
      number++;
      if (number < this.#next) continue; // the server has it
      this.#take(await this.#part(number, part));
      if (this.state.value !== 'running' || this.session.value) return;
    }
  }

  #part(number: number, part: Part): Promise<Imported> {
    if (number === 1) return this.#first(part);
    return this.#api.imports.part(this.#import, number, part, { signal: this.#abort.signal });
  }

  #first(document: unknown): Promise<Imported> {
    const { signal } = this.#abort;
    const query = this.#id === undefined ? {} : { id: this.#id };
    return this.#api.imports.start(document, query, { idempotencyKey: this.#key, signal });
  }

  #take(imported: Imported): void {
    if (imported.complete) {
      batch(() => {
        this.session.value = imported.session;
        this.kept.value = imported.kept;
        this.sent.value = this.file.size;
      });
      return;
    }
    this.#import = imported.progress.import_id;
    this.#next = imported.progress.next_part;
    const parts = Math.max(1, Math.ceil(this.file.size / WHOLE));
    this.sent.value = Math.min(this.file.size, (this.file.size * (this.#next - 1)) / (parts + 1));
  }
}

function textOf(error: unknown): string {
  if (error instanceof NotInParts) return 'The file is no export of a chat.';
  if (error instanceof RethreadError && error.status === 413) {
    return 'A part of the file is too large for the server, such as a file of more than 4 MB in it.';
  }
  if (error instanceof RethreadError && error.errors.length > 0) {
    const { pointer, detail } = error.errors[0] ?? { pointer: '', detail: '' };
    return `The document is not accepted: ${pointer} ${detail}.`;
  }
  return errorText(error);
}
