// Converts Markdown to safe HTML.

import { signal } from '@preact/signals';
import DOMPurify from 'dompurify';
import { Lexer, Marked, type Token, type Tokens, type TokensList } from 'marked';
import { literal } from './literal';

export interface MarkdownBlock {
  kind: string;
  /** Its source: the same source gives the same block. */
  source: string;
  /** A code block is rendered by its own component. */
  code?: { language: string; text: string };
  /** Its HTML before it is sanitised, only to be compared. */
  markup: () => string;
  html: () => string;
}

/** What a text defines for use in others of its parts. */
export interface Definitions {
  /** Targets of reference links, by name. */
  links: TokensList['links'];
  /** The names of footnotes. */
  notes: ReadonlySet<string>;
}

export const NOTHING: Definitions = { links: {}, notes: new Set() };

export interface Blocks {
  blocks: MarkdownBlock[];
  /** The offset of each block in the text. */
  starts: number[];
  /** Those of the text, and those known before. */
  defined: Definitions;
}

const SHORT = 20; // characters of a table's cell that stay in one line

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // The page loads nothing from other origins: an image becomes a link.
    image({ href, text }) {
      return this.link({
        type: 'link',
        raw: '',
        href,
        title: null,
        text,
        tokens: [{ type: 'text', raw: text, text: text || href }],
      });
    },
    // A date or a name is not broken.
    tablecell({ header, align, text, tokens }) {
      const tag = header ? 'th' : 'td';
      const attributes = `${align ? ` align="${align}"` : ''}${text.length <= SHORT ? ' nowrap' : ''}`;
      return `<${tag}${attributes}>${this.parser.parseInline(tokens)}</${tag}>\n`;
    },
    // Raw HTML is shown as text.
    html({ text }) {
      return literal(text);
    },
  },
});

/** Whether formulas and footnotes are understood, whose code is loaded with the first of them. */
export const extended = signal(false);

const EXTENSIONS = /\$|\\[([]|\[\^/;
let loading: Promise<void> | null = null;

/** Loads what a text may need. */
export function extendFor(text: string): Promise<void> {
  if (extended.peek() || !EXTENSIONS.test(text)) return Promise.resolve();
  loading ??= import('./extensions').then(
    ({ extensions }) => {
      marked.use({ extensions });
      extended.value = true;
    },
    () => {
      loading = null; // the server cannot be reached: the next text tries again
    },
  );
  return loading;
}

/** @param known what was defined before the text */
export function blocksOf(text: string, known: Definitions = NOTHING): Blocks {
  const lexer = new Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, known.links);
  const tokens = lexer.lex(text);
  const { links } = tokens;
  const out: Blocks = { blocks: [], starts: [], defined: { links, notes: connect(tokens, known) } };
  let at = 0;
  for (const token of tokens) {
    if (token.type !== 'space' && token.type !== 'def') {
      out.blocks.push(blockOf(token, links));
      out.starts.push(at);
    }
    at += token.raw.length;
  }
  return out;
}

// Tells the references to footnotes which of these exist, and returns them all.
function connect(tokens: TokensList, known: Definitions): ReadonlySet<string> {
  const notes = new Set(known.notes);
  const references: Tokens.Generic[] = [];
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'note') notes.add((token as Tokens.Generic).label);
    if (token.type === 'noteReference') references.push(token);
  });
  for (const reference of references) reference.defined = notes.has(reference.label);
  return notes;
}

function blockOf(token: Token, links: TokensList['links']): MarkdownBlock {
  const markup = () => marked.parser(Object.assign([token], { links }));
  const html = () => sanitised(markup());
  const block = { kind: token.type, source: token.raw, markup, html };
  if (token.type !== 'code') return block;
  const { lang = '', text } = token as Tokens.Code;
  return { ...block, code: { language: lang.split(/\s/)[0] ?? '', text } };
}

function sanitised(html: string): string {
  // If the page's policy requires trusted types this is one, which innerHTML accepts like a string.
  return DOMPurify.sanitize(html, {
    USE_PROFILES: { html: true, mathMl: true },
    FORBID_TAGS: ['style', 'form', 'img', 'video', 'audio', 'picture', 'source'],
    FORBID_ATTR: ['style', 'class', 'id', 'name'],
    RETURN_TRUSTED_TYPE: true,
  }) as unknown as string;
}

DOMPurify.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName === 'INPUT') element.setAttribute('aria-label', taskOf(element));
  if (element.tagName !== 'A') return;
  element.setAttribute('target', '_blank');
  element.setAttribute('rel', 'noopener noreferrer');
});

// The text beside the checkbox of a task, without the tasks below it.
function taskOf(checkbox: Element): string {
  const texts = [...(checkbox.parentElement?.childNodes ?? [])]
    .filter(({ nodeName }) => nodeName !== 'UL' && nodeName !== 'OL')
    .map(({ textContent }) => textContent?.trim());
  return texts.filter(Boolean).join(' ') || 'Task';
}
