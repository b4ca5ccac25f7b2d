// Incremental Markdown: blocks that cannot change any more are parsed once, however long the text is.

import { type Blocks, blocksOf, type Definitions, type MarkdownBlock, NOTHING } from './parse';

const LONG = 8000; // characters from which an open paragraph is split
const KEPT = 1000; // characters that stay open then, for markup that spans the split

export class GrowingMarkdown {
  #text = '';
  #closed: MarkdownBlock[] = [];
  #from = 0; // where the open part begins
  #defined: Definitions = NOTHING;
  #cut = false;

  /** Number of characters in the last parse, those that could have changed. */
  get open(): number {
    return this.#text.length - this.#from;
  }

  /**
   * The blocks of a growing text. A text that does not continue the last one is parsed from the start.
   *
   * @param shown returns what is shown of the part that may still change
   */
  grow(given: string, shown = (open: string): string => open): MarkdownBlock[] {
    const text = given.replace(/\r\n?/g, '\n');
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    const source = text.slice(this.#from);
    const visible = shown(source);
    const open = blocksOf(source, this.#defined);
    const end = visible === source ? open : blocksOf(visible, this.#defined);
    const blocks = [...this.#closed, ...end.blocks];
    this.#close(open);
    return blocks;
  }

  /** The blocks of a complete text. */
  finish(text: string): MarkdownBlock[] {
    const blocks = this.grow(text);
    // A link or note may be defined after its use, and split paragraphs are joined
    const { links, notes } = this.#defined;
    const whole = this.#cut || notes.size > 0 || Object.keys(links).length > 0;
    return whole ? blocksOf(this.#text).blocks : blocks;
  }

  // Further text changes the last block, or only its last line, which may turn out to belong to the
  // block before.
  #close({ blocks, defined, starts }: Blocks): void {
    this.#defined = defined;
    const last = blocks.at(-1);
    const long = last?.kind === 'paragraph' && last.source.length > LONG;
    const closed = Math.max(0, blocks.length - (long ? 1 : 2));
    this.#closed.push(...blocks.slice(0, closed));
    this.#from += starts[closed] ?? 0;
    if (long) this.#cutOpen(last.source);
  }

  // A word inside a paragraph starts nothing but text.
  #cutOpen(paragraph: string): void {
    const word = /\s\p{L}/u.exec(paragraph.slice(-KEPT));
    if (!word) return;
    const end = paragraph.length - Math.min(KEPT, paragraph.length) + word.index + 1;
    const [part] = blocksOf(paragraph.slice(0, end), this.#defined).blocks;
    if (!part) return;
    this.#closed.push({ ...part, kind: 'paragraph part' });
    this.#from += end;
    this.#cut = true;
  }

  #reset(): void {
    this.#closed = [];
    this.#from = 0;
    this.#defined = NOTHING;
    this.#cut = false;
  }
}
