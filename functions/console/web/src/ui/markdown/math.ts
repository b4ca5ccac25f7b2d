// Formulas in Markdown, written in TeX: $…$ and \(…\) within a line, $$…$$ and \[…\] on their own.
// What may as well be prices or escaped brackets stays text.

import type { TokenizerAndRendererExtension, Tokens } from 'marked';
import { literal } from './literal';
import { typeset } from './typeset';

interface Formula extends Tokens.Generic {
  tex: string;
  display: boolean;
  /** Whether its end has not arrived. */
  open?: boolean;
}

const INLINE: readonly [form: RegExp, display: boolean][] = [
  [/^\$\$(?!\$)((?:\\[\s\S]|[^\\$])+)\$\$/, true],
  [/^\$(?![\s$])((?:\\.|[^\\$\n`])*?(?:\\.|[^\\$\n`\s]))\$(?![\p{L}\p{N}$])/u, false],
  [/^\\\(((?:(?!\\[()])[\s\S])+)\\\)/, false],
  [/^\\\[((?:(?!\\[[\]])[\s\S])+)\\\](?!\()/, true],
];

const OPENING = /^ {0,3}(\$\$|\\\[)/;
const CLOSING: Record<string, string> = { $$: '$$', '\\[': '\\]' };
const BLANK_LINE = /\n[ \t]*\n/;

/** Within a paragraph. */
export const inlineMath: TokenizerAndRendererExtension = {
  name: 'math',
  level: 'inline',
  start: (src) => nonNegative(src.search(/\$|\\[([]/)),
  tokenizer(src, tokens) {
    // A letter or digit before the sign belongs to a price or a name: US$, 10$.
    if (src.startsWith('$') && /[\p{L}\p{N}$]$/u.test(tokens.at(-1)?.raw ?? '')) return undefined;
    for (const [form, display] of INLINE) {
      const [raw, tex] = form.exec(src) ?? [];
      if (raw === undefined || tex === undefined) continue;
      if (isMath(raw, tex)) return { type: 'math', raw, tex: tex.trim(), display };
    }
    return undefined;
  },
  renderer: (token) => typeset((token as Formula).tex, (token as Formula).display),
};

/**
 * In lines of its own, up to a blank line, so that its lines start no lists or headings. It is
 * source code until it is closed.
 */
export const blockMath: TokenizerAndRendererExtension = {
  name: 'formula',
  level: 'block',
  start: (src) => nonNegative(src.search(/(?<=\n) {0,3}(?:\$\$|\\\[)/)),
  tokenizer(src) {
    const [opening, sign] = OPENING.exec(src) ?? [];
    if (opening === undefined || sign === undefined) return undefined;
    const blank = src.search(BLANK_LINE);
    const body = src.slice(opening.length, blank < 0 ? src.length : blank);
    const closing = CLOSING[sign] ?? sign;
    const at = body.indexOf(closing);
    if (at < 0) return blank < 0 ? { type: 'formula', raw: src, open: true } : undefined;
    const tex = body.slice(0, at);
    const [rest] = /^[ \t]*(?:\n|$)/.exec(src.slice(opening.length + at + closing.length)) ?? [];
    if (rest === undefined || !isMath(sign, tex)) return undefined;
    const raw = src.slice(0, opening.length + at + closing.length + rest.length);
    return { type: 'formula', raw, tex: tex.trim(), display: true };
  },
  renderer(token) {
    const { raw, tex, open } = token as Formula;
    return `<p>${open ? `<code>${literal(raw.trim())}</code>` : typeset(tex, true)}</p>`;
  },
};

/** @param opening begins with the sign that opens the formula */
function isMath(opening: string, tex: string): boolean {
  if (tex.trim() === '') return false;
  if (opening.startsWith('$$') || opening.startsWith('\\(')) return true;
  return opening.startsWith('\\[') ? hasSigns(tex) : isFormula(tex);
}

// Prose has no such signs. Without them only a single word is a formula, such as $n$ or $12$.
const hasSigns = (tex: string): boolean =>
  /[\\^_]/.test(tex) || (/[=<>+*|]/.test(tex) && !isProse(tex));

const isFormula = (tex: string): boolean => hasSigns(tex) || !/\s/.test(tex.trim());

const isProse = (tex: string): boolean => /\s\p{L}{2,}/u.test(tex);

const nonNegative = (index: number): number | undefined => (index < 0 ? undefined : index);
