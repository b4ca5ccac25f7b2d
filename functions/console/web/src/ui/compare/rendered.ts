// Markdown as the chat shows it, in which words can be marked.

import type { Piece } from '../../store/compare/words';
import { followNote } from '../markdown/markdown';
import { blocksOf, type MarkdownBlock } from '../markdown/parse';

type Column = 'left' | 'right';

/** A text as an element. Its text content has a line break wherever one is shown. */
export function rendered(text: string): HTMLElement {
  const root = document.createElement('div');
  root.className = 'markdown';
  root.addEventListener('click', followNote);
  const { blocks } = blocksOf(text.replace(/\r\n?/g, '\n'));
  for (const block of blocks) root.append(elementOf(block), '\n');
  for (const br of root.querySelectorAll('br')) br.after('\n');
  return root;
}

function elementOf({ kind, code, html }: MarkdownBlock): HTMLElement {
  const element = document.createElement('div');
  element.className = `block ${kind}`;
  element.dir = code ? 'ltr' : 'auto';
  if (!code) {
    element.innerHTML = html(); // sanitised by DOMPurify
  } else {
    const pre = element.appendChild(document.createElement('pre'));
    pre.appendChild(document.createElement('code')).textContent = code.text;
  }
  for (const wide of kind === 'table' ? [element] : element.querySelectorAll('pre')) {
    wide.tabIndex = 0; // scrollable content must be reachable by keyboard
  }
  return element;
}

/** Marks the words that only one column has; the pieces are those of the element's text content. */
export function mark(root: HTMLElement, pieces: readonly Piece[], column: Column): void {
  const texts = textsIn(root);
  let text = texts.next().value;
  for (const piece of pieces) {
    let left = piece.in === 'both' || piece.in === column ? piece.text.length : 0;
    while (left > 0 && text) {
      const rest = left < text.length ? text.splitText(left) : null;
      left -= text.length;
      if (piece.in === column) markNode(text, column);
      text = rest ?? texts.next().value;
    }
  }
}

function* textsIn(root: HTMLElement): Generator<Text, undefined> {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const all: Text[] = [];
  while (walker.nextNode()) all.push(walker.currentNode as Text);
  yield* all;
}

function markNode(text: Text, column: Column): void {
  if (/^\s*\n\s*$/.test(text.data)) return; // between blocks, or a table's rows
  const node = text.parentElement?.closest('math') ?? text;
  if (node.parentElement?.classList.contains('differs')) return; // a formula is marked once
  const around = document.createElement(column === 'left' ? 'del' : 'ins');
  around.className = 'differs';
  node.replaceWith(around);
  around.append(node);
}
