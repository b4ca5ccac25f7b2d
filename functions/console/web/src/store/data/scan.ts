// Reads a JSON object piece by piece: its members, and of members that are lists each entry, so that
// a large document is never in memory as a whole.

export interface Piece {
  /** The name of the object's member. */
  member: string;
  /** Whether the text is that of an entry of a list, or that of the whole member. */
  entry: boolean;
  text: string;
}

export class NotJson extends Error {}

type State = 'start' | 'key' | 'colon' | 'value' | 'entry' | 'after-entry' | 'after-value' | 'end';

/** Yields the pieces of an object; the members named are read as lists, if they are. */
export async function* piecesOf(
  chunks: AsyncIterable<string>,
  lists: ReadonlySet<string>,
): AsyncGenerator<Piece> {
  const scanner = new Scanner(lists);
  for await (const chunk of chunks) yield* scanner.take(chunk);
  scanner.finish();
}

class Scanner {
  readonly #lists: ReadonlySet<string>;
  #state: State = 'start';
  #member = '';
  #reading: '' | 'key' | 'value' | 'entry' = ''; // what the text belongs to
  #text = ''; // of what is being read, up to this chunk
  #depth = 0;
  #string = false;
  #escaped = false;
  #bare = false; // in a number or a word, which the character after it ends

  constructor(lists: ReadonlySet<string>) {
    this.#lists = lists;
  }

  *take(chunk: string): Generator<Piece> {
    let from = 0;
    let slash = -1; // the next backslash
    for (let at = 0; at < chunk.length; at++) {
      if (this.#string && !this.#escaped) {
        // Most of a document is in strings, such as contents of files: their ends are searched
        if (slash < at) slash = indexOf(chunk, '\\', at);
        at = Math.min(slash, indexOf(chunk, '"', at));
        if (at >= chunk.length) break;
      }
      const c = chunk.charAt(at);
      if (this.#reading === '') {
        if (this.#begin(c)) from = at;
        continue;
      }
      const ended = this.#within(c);
      if (ended === 'no') continue;
      const to = ended === 'after' ? at + 1 : at;
      const piece = this.#piece(this.#text + chunk.slice(from, to));
      if (piece) yield piece;
      if (ended === 'before') at--; // this character is not part of it
    }
    if (this.#reading !== '') this.#text += chunk.slice(from);
  }

  finish(): void {
    if (this.#state !== 'end') throw new NotJson('The file ends early: it is incomplete.');
  }

  // Takes a character between texts; returns whether a text begins with it.
  #begin(c: string): boolean {
    if (/\s/.test(c) || (this.#state === 'start' && c === '\ufeff')) return false;
    switch (this.#state) {
      case 'start':
        return this.#expect(c, '{', 'key');
      case 'key':
        if (c === '}') return this.#expect(c, '}', 'end');
        if (c !== '"') throw this.#unexpected(c);
        return this.#read('key', c);
      case 'colon':
        return this.#expect(c, ':', 'value');
      case 'value':
        if (c === '[' && this.#lists.has(this.#member)) return this.#expect(c, '[', 'entry');
        return this.#read('value', c);
      case 'entry':
        if (c === ']') return this.#expect(c, ']', 'after-value');
        return this.#read('entry', c);
      case 'after-entry':
        return c === ']' ? this.#expect(c, ']', 'after-value') : this.#expect(c, ',', 'entry');
      case 'after-value':
        return c === '}' ? this.#expect(c, '}', 'end') : this.#expect(c, ',', 'key');
      case 'end':
        throw this.#unexpected(c);
    }
  }

  #expect(c: string, expected: string, next: State): false {
    if (c !== expected) throw this.#unexpected(c);
    this.#state = next;
    return false;
  }

  #read(what: 'key' | 'value' | 'entry', c: string): true {
    if (',:]}'.includes(c)) throw this.#unexpected(c);
    this.#reading = what;
    this.#text = '';
    this.#string = c === '"';
    this.#depth = c === '{' || c === '[' ? 1 : 0;
    this.#bare = !this.#string && this.#depth === 0;
    return true;
  }

  // Takes a character of a text; returns whether the text ends before or after it.
  #within(c: string): 'no' | 'before' | 'after' {
    if (this.#bare) return /[\s,\]}]/.test(c) ? 'before' : 'no';
    if (this.#string) {
      if (this.#escaped) this.#escaped = false;
      else if (c === '\\') this.#escaped = true;
      else if (c === '"') {
        this.#string = false;
        return this.#depth === 0 ? 'after' : 'no';
      }
      return 'no';
    }
    if (c === '"') this.#string = true;
    else if (c === '{' || c === '[') this.#depth++;
    else if ((c === '}' || c === ']') && --this.#depth === 0) return 'after';
    return 'no';
  }

  #piece(text: string): Piece | null {
    const what = this.#reading;
    this.#reading = '';
    if (what === 'key') {
      this.#member = JSON.parse(text);
      this.#state = 'colon';
      return null;
    }
    this.#state = what === 'entry' ? 'after-entry' : 'after-value';
    return { member: this.#member, entry: what === 'entry', text };
  }

  #unexpected(c: string): NotJson {
    return new NotJson(`The file is no JSON document: “${c}” is in a wrong place.`);
  }
}

/** The position of a character, or the end of the text. */
function indexOf(text: string, c: string, from: number): number {
  const at = text.indexOf(c, from);
  return at < 0 ? text.length : at;
}
