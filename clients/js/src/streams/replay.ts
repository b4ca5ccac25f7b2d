// Finds the new events of a stream that is read again from its beginning.

/** Describes an event, so that a reader that has it already can skip it. */
export interface Meaning {
  /** Identifies the event within its section, or the text that it adds to. */
  key: string;
  /** The text that the event appends to the text `key`. */
  text?: string;
  /** The text may be written differently on another connection; a later event has all of it. */
  loose?: boolean;
  /** The text that the event begins, or ends. */
  opens?: string;
  closes?: string;
  /** The event begins a section, or completes one, which is then the same on each connection. */
  section?: 'begins' | 'ends';
  /** The event ends the stream. */
  last?: boolean;
}

/** The part of a section that the reader has. */
class Section {
  readonly texts = new Map<string, string>();
  readonly loose = new Map<string, string>();
  readonly counts = new Map<string, number>();
  readonly open = new Set<string>(); // texts
  readonly closed = new Map<string, string[]>(); // texts, with the keys of what closed them
  complete = false;

  add({ key, opens, closes }: Meaning): void {
    count(this.counts, key, 1);
    if (opens) this.open.add(opens);
    if (opens) this.closed.delete(opens);
    if (closes) this.open.delete(closes);
    if (closes) this.closed.set(closes, [...(this.closed.get(closes) ?? []), key]);
  }
}

/**
 * Compares the events of each connection with what the reader has. A text may arrive in other pieces
 * than before. If the reader has a text that is different now, its section is sent again after a reset.
 */
export abstract class Replay<E> {
  #sections = [new Section()];
  #at = 0; // the section of the connection
  #lengths = new Map<string, number>(); // of its texts, and the number of its other events, by key
  #counts = new Map<string, number>();
  #events: E[] = []; // the events of the section, if the reader had some of it before
  #behind = false;

  /** Returns the description of an event; null for one that is sent whenever it arrives. */
  protected abstract meaning(event: E): Meaning | null;
  /** A copy of an event that adds another text. */
  protected abstract withText(event: E, text: string): E;
  /** The events that remove a section from the reader; null if nothing can. */
  protected abstract reset(section: number, open: string[]): E[] | null;
  /** The events that begin a closed text again; null if nothing can. */
  protected abstract reopen(text: string, events: E[]): E[] | null;

  /** Begins a connection. */
  connect(): void {
    this.#enter(0);
  }

  /** Returns the events that the reader lacks. */
  take(event: E): E[] {
    return this.#take(event);
  }

  #take(event: E): E[] {
    const meaning = this.meaning(event);
    if (!meaning) return [event];
    if (meaning.section === 'begins') {
      this.#enter(this.#at + 1);
      if (this.#behind) return [];
      this.#sections.push(new Section());
      return [event];
    }
    if (this.#section.complete && !meaning.last) return [];
    if (this.#behind) this.#events.push(event);
    if (meaning.text === undefined) return this.#takeOnce(event, meaning);
    return this.#takeText(event, meaning, meaning.text);
  }

  /** Forgets what the reader has of the section. */
  protected forget(): void {
    this.#sections.splice(this.#at, this.#sections.length, new Section());
    this.#enter(this.#at);
    this.#behind = false;
  }

  /** Sends the section again, from its beginning on this connection; null if that is not possible. */
  protected restart(): E[] | null {
    const reset = this.reset(this.#at, [...this.#section.open]);
    if (!reset) return null;
    const events = this.#events;
    this.forget();
    return [...reset, ...events.flatMap((event) => this.#take(event))];
  }

  get #section(): Section {
    return this.#sections[this.#at] as Section;
  }

  #enter(at: number): void {
    this.#at = at;
    this.#lengths = new Map();
    this.#counts = new Map();
    this.#events = [];
    this.#behind = at < this.#sections.length;
  }

  #takeText(event: E, { key, loose }: Meaning, text: string): E[] {
    const section = this.#section;
    const texts = loose ? section.loose : section.texts;
    const had = texts.get(key) ?? '';
    const seen = this.#lengths.get(key) ?? 0;
    this.#lengths.set(key, seen + text.length);
    const covered = had.slice(seen, seen + text.length);
    const rest = text.slice(covered.length);
    const differs = !text.startsWith(covered) || seen > had.length;
    if (differs) return (loose ? null : this.restart()) ?? [];
    if (!rest) return [];
    const opening = section.closed.has(key) ? this.#reopen(key) : [];
    if (!opening) return this.restart() ?? [];
    texts.set(key, had + rest);
    return [...opening, covered ? this.withText(event, rest) : event];
  }

  #reopen(key: string): E[] | null {
    const { counts, open, closed } = this.#section;
    const events = this.reopen(key, this.#events);
    if (!events) return null;
    for (const by of closed.get(key) ?? []) count(counts, by, -1);
    closed.delete(key);
    open.add(key);
    return events;
  }

  #takeOnce(event: E, meaning: Meaning): E[] {
    const { key, closes, last } = meaning;
    const ends = last || meaning.section === 'ends';
    const differs = closes ? this.#lacks(closes) : ends && this.#lacksAny(key);
    const again = this.#behind && differs ? this.restart() : null;
    if (again) return again;
    if (meaning.section === 'ends') this.#section.complete = true;
    if (count(this.#counts, key, 1) <= (this.#section.counts.get(key) ?? 0) && !last) return [];
    this.#section.add(meaning);
    return [event];
  }

  /** Whether the connection has sent less of a text than the reader has. */
  #lacks(text: string): boolean {
    return (this.#lengths.get(text) ?? 0) < (this.#section.texts.get(text)?.length ?? 0);
  }

  /** Whether the reader has something that the connection has not sent, besides its end. */
  #lacksAny(end: string): boolean {
    if (this.#at < this.#sections.length - 1) return true;
    const { texts, counts, complete } = this.#section;
    if (complete) return false;
    const fewer = ([key, had]: [string, number]) =>
      key !== end && (this.#counts.get(key) ?? 0) < had;
    return [...texts.keys()].some((text) => this.#lacks(text)) || [...counts].some(fewer);
  }
}

/** Adds to a count, and returns it. */
function count(counts: Map<string, number>, key: string, by: number): number {
  const sum = (counts.get(key) ?? 0) + by;
  counts.set(key, sum);
  return sum;
}
