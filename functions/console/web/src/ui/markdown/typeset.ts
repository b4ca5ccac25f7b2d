// Converts TeX to MathML, which needs neither fonts nor inline styles, both forbidden by the page's
// policy. KaTeX is loaded when a text has the first formula; until then its source is shown.

import { signal } from '@preact/signals';
import type { KatexOptions } from 'katex';
import { literal } from './literal';

type Render = (tex: string, options: KatexOptions) => string;

const OPTIONS: KatexOptions = {
  output: 'mathml',
  throwOnError: true,
  strict: 'ignore',
  trust: false,
  maxSize: 20, // em
  maxExpand: 500, // macros
};
const LONGEST = 20_000; // characters

const render = signal<Render | null>(null);
let loading = false;

/** The formula as HTML; a component that calls this is rendered again once KaTeX is loaded. */
export function typeset(tex: string, display: boolean): string {
  const source = `<code>${literal(tex)}</code>`;
  if (tex.length > LONGEST) return source;
  if (!render.value) {
    void load();
    return source;
  }
  try {
    const html = render.value(tex, { ...OPTIONS, displayMode: display });
    return html.replace(/<annotation .*?<\/annotation>/s, ''); // the source, which would be shown too
  } catch {
    return source;
  }
}

async function load(): Promise<void> {
  if (loading) return;
  loading = true;
  try {
    const { default: katex } = await import('katex');
    render.value = katex.renderToString;
  } catch {
    loading = false; // the server cannot be reached: the next formula tries again
  }
}
