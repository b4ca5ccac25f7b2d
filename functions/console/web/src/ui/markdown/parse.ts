// Converts Markdown to safe HTML.

import DOMPurify from 'dompurify';
import { Lexer, Marked, type Token, type Tokens, type TokensList } from 'marked';

export interface MarkdownBlock {
  kind: string;
  /** Its source: the same source gives the same block. */
  source: string;
  /** A code block is rendered by its own component. */
  code?: { language: string; text: string };
  html: () => string;
}

/** Targets of reference links, by name. */
export type Links = TokensList['links'];

export interface Blocks {
  blocks: MarkdownBlock[];
  /** The offset of each block in the text. */
  starts: number[];
  /** The links defined by the text, and those known before. */
  links: Links;
}

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
    // Raw HTML is shown as text.
    html({ text }) {
      return literal(text);
    },
  },
});

/** @param known links that were defined before the text */
export function blocksOf(text: string, known: Links = {}): Blocks {
  const lexer = new Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, known);
  const tokens = lexer.lex(text);
  const out: Blocks = { blocks: [], starts: [], links: tokens.links };
  let at = 0;
  for (const token of tokens) {
    if (token.type !== 'space' && token.type !== 'def') {
      out.blocks.push(blockOf(token, tokens.links));
      out.starts.push(at);
    }
    at += token.raw.length;
  }
  return out;
}

function blockOf(token: Token, links: TokensList['links']): MarkdownBlock {
  const block = { kind: token.type, source: token.raw, html: () => htmlOf(token, links) };
  if (token.type !== 'code') return block;
  const { lang = '', text } = token as Tokens.Code;
  return { ...block, code: { language: lang.split(/\s/)[0] ?? '', text } };
}

function htmlOf(token: Token, links: TokensList['links']): string {
  const html = marked.parser(Object.assign([token], { links }));
  // If the page's policy requires trusted types this is one, which innerHTML accepts like a string.
  return DOMPurify.sanitize(html, {
    USE_PROFILES: { html: true },
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

const literal = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
