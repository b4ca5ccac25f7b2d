// Lists that are read page by page.

/** A page of a list. */
export interface Page<T> {
  data: T[];
  /** Leads to the next page; null on the last one. A short page is not always the last. */
  next_cursor: string | null;
}

/**
 * A list, read while it is used: `for await` yields its entries, `pages()` its pages, and `await`
 * returns the first page. Each of them reads anew.
 */
export class List<T> implements AsyncIterable<T>, PromiseLike<Page<T>> {
  readonly #first: string | undefined;
  readonly #read: (cursor: string | undefined) => Promise<Page<T>>;

  constructor(first: string | undefined, read: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#first = first;
    this.#read = read;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let cursor = this.#first; ; ) {
      const page = await this.#read(cursor);
      yield page;
      if (!page.next_cursor) return;
      cursor = page.next_cursor;
    }
  }

  /** Reads all pages and returns their entries. */
  async all(): Promise<T[]> {
    const entries: T[] = [];
    for await (const page of this.pages()) entries.push(...page.data);
    return entries;
  }

  // biome-ignore lint/suspicious/noThenProperty: `await` on a list returns its first page
  then<A = Page<T>, B = never>(
    done?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#read(this.#first).then(done, failed);
  }
}
