// Footnotes in Markdown: [^1] in the text, and [^1]: … where the note stands. They are connected
// within their message by attributes, not by ids, which would be unique only in one message, or by
// the address.

import type { TokenizerAndRendererExtension, Tokens } from 'marked';
import { literal } from './literal';

interface Note extends Tokens.Generic {
  label: string;
  /** Of a reference: whether the note exists. */
  defined?: boolean;
}

const LABEL = String.raw`\[\^([^\]\s^]{1,40})\]`;
const REFERENCE = new RegExp(`^${LABEL}(?!\\()`);
// Lines up to a blank one or the next note, and indented paragraphs after it.
const DEFINITION = new RegExp(
  `^ {0,3}${LABEL}:[ \\t]*((?:[^\\n]*)(?:\\n(?!\\s*\\n| {0,3}${LABEL}:)[^\\n]+)*(?:\\n+(?: {4}|\\t)[^\\n]+)*)(?:\\n|$)`,
);

export const noteReference: TokenizerAndRendererExtension = {
  name: 'noteReference',
  level: 'inline',
  start: (src) => (src.includes('[^') ? src.indexOf('[^') : undefined),
  tokenizer(src) {
    const [raw, label] = REFERENCE.exec(src) ?? [];
    return raw === undefined ? undefined : { type: 'noteReference', raw, label };
  },
  renderer(token) {
    const { label, raw, defined } = token as Note;
    if (!defined) return literal(raw);
    const name = literal(label);
    return `<sup><button type="button" data-note="${name}" aria-label="Footnote ${name}">${name}</button></sup>`;
  },
};

export const noteDefinition: TokenizerAndRendererExtension = {
  name: 'note',
  level: 'block',
  childTokens: ['tokens'],
  start(src) {
    const at = src.search(new RegExp(`(?<=\\n) {0,3}${LABEL}:`));
    return at < 0 ? undefined : at;
  },
  tokenizer(src) {
    const [raw, label, body] = DEFINITION.exec(src) ?? [];
    if (raw === undefined || body === undefined) return undefined;
    const text = body.replace(/\n(?: {4}|\t)/g, '\n');
    return { type: 'note', raw, label, tokens: this.lexer.blockTokens(text, []) };
  },
  renderer(token) {
    const name = literal((token as Note).label);
    const text = this.parser.parse(token.tokens ?? []);
    const back = `<button type="button" data-note-of="${name}" aria-label="Back to footnote ${name} in the text">↩</button>`;
    return `<b>${name}</b><div>${text}</div>${back}`;
  },
};

/** Scrolls between a footnote and its place in the text, whose buttons are in one message. */
export function followNote(button: HTMLElement): void {
  const { note, noteOf } = button.dataset;
  const other =
    note === undefined
      ? `[data-note="${CSS.escape(noteOf ?? '')}"]`
      : `[data-note-of="${CSS.escape(note)}"]`;
  const target = button.closest('.markdown')?.querySelector<HTMLElement>(other);
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: 'center' });
}
