// Draws diagrams written in Mermaid's language. Loaded when the first one is shown. Mermaid itself
// measures texts in the page and writes its styles there, which the page's policy forbids; this
// library computes the picture alone. What it cannot draw stays code.

import { renderMermaid } from 'beautiful-mermaid';

const LONGEST = 10_000; // characters; more would block the page for too long

// As in tokens.css; within a picture its variables are unknown.
const COLOURS = {
  bg: 'light-dark(#fcfbf9, #191817)',
  fg: 'light-dark(#23211d, #ece8e1)',
  muted: 'light-dark(#5d584e, #b5aea3)',
};

/** The address of the picture; rejects if the diagram is of an unknown type, or malformed. */
export async function draw(source: string): Promise<string> {
  if (source.length > LONGEST) throw new Error('too long to be drawn');
  const svg = await renderMermaid(source, COLOURS);
  const own = svg
    .replace(/@import [^;]*;/g, '') // a font of another origin, which would not be loaded anyway
    .replace('<style>', '<style>:root { color-scheme: light dark; }');
  return `data:image/svg+xml,${encodeURIComponent(own)}`;
}
