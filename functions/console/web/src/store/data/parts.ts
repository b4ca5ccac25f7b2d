// Cuts an exported document into parts that fit into requests, as docs/archive.md describes.

import { NotJson, type Piece, piecesOf } from './scan';

const LISTS = new Set(['events', 'tasks', 'feedback', 'artifacts', 'requests', 'runs']);
const UNUSED = new Set(['runs', 'exported_time']); // an import ignores them
const LAST = new Set(['state', 'complete']);

export type Part = Record<string, unknown>;

/** The file is no exported document, or has its members in another order. */
export class NotInParts extends Error {}

/**
 * Yields the parts of a document, each of at most `limit` bytes unless a single entry is larger. Parts
 * of one file are the same each time.
 */
export async function* partsOf(file: Blob, limit: number): AsyncGenerator<Part> {
  const part = new Parts(limit);
  for await (const piece of piecesOf(textOf(file), LISTS)) {
    if (UNUSED.has(piece.member)) continue;
    const full = part.add(piece);
    if (full) yield full;
  }
  yield part.last();
}

class Parts {
  readonly #limit: number;
  #format: unknown;
  #part: Part = {};
  #size = 0;
  #entries = 0; // of all parts

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a piece; returns the part before it if that is full. */
  add({ member, entry, text }: Piece): Part | null {
    const value = parsed(text);
    if (!entry) return this.#addMember(member, value);
    if (this.#format === undefined) throw new NotInParts();
    const size = new TextEncoder().encode(text).length + 1;
    const full = this.#size + size > this.#limit && !joins(value) ? this.#cut() : null;
    const list = this.#part[member] ?? [];
    if (!Array.isArray(list)) throw new NotInParts();
    list.push(value);
    this.#part[member] = list;
    this.#size += size;
    this.#entries++;
    return full;
  }

  last(): Part {
    if (this.#format === undefined || this.#part.complete !== true) {
      throw new NotJson('The file is incomplete: it has no end. Export the chat again.');
    }
    return this.#part;
  }

  #addMember(member: string, value: unknown): null {
    if (member === 'format') this.#format = value;
    else if (this.#entries > 0 && !LAST.has(member)) throw new NotInParts();
    if (Array.isArray(value) && LISTS.has(member)) throw new NotInParts();
    this.#part[member] = value;
    this.#size += JSON.stringify(value)?.length ?? 0;
    return null;
  }

  #cut(): Part | null {
    if (this.#entries === 0) return null;
    const full = this.#part;
    this.#part = { format: this.#format };
    this.#size = 0;
    return full;
  }
}

// Events that were stored together must not be cut apart.
const joins = (value: unknown): boolean => {
  const { _log: log } = (value ?? {}) as { _log?: { joins?: unknown } };
  return Boolean(log?.joins);
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotJson(`The file is no JSON document: ${text.slice(0, 40)}`);
  }
}

async function* textOf(file: Blob): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = file.stream().getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    yield decoded(() => decoder.decode(value, { stream: true }));
  }
  yield decoded(() => decoder.decode());
}

function decoded(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new NotJson('The file is no text in UTF-8.');
  }
}
