// Colours code. Loaded when the first code of a known language is shown.

import { createLowlight } from 'lowlight';
import { type ComponentChildren, h } from 'preact';
import { type Load, loaderOf } from './languages';
import './highlight.css';

const LONGEST = 40_000; // characters; more would block the page for too long

const lowlight = createLowlight();
const ready = new Map<Load, Promise<string>>();

type Tree = ReturnType<typeof lowlight.highlight>['children'];

/** The elements of a text in a language; null if the language is unknown, or the text too long. */
export async function highlight(language: string, text: string): Promise<ComponentChildren> {
  const load = loaderOf(language);
  if (!load || text.length > LONGEST) return null;
  const name = await (ready.get(load) ?? prepare(load, language));
  return rendered(lowlight.highlight(name, text).children);
}

function prepare(load: Load, language: string): Promise<string> {
  const name = load().then(({ default: grammar }) => {
    lowlight.register(language, grammar);
    return language;
  });
  name.catch(() => ready.delete(load)); // the next code tries again
  ready.set(load, name);
  return name;
}

// Elements, not HTML: so nothing in the text can become markup.
function rendered(tree: Tree): ComponentChildren {
  return tree.map((node) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    const names = node.properties.className;
    const props = { class: Array.isArray(names) ? names.join(' ') : '' };
    return h('span', props, rendered(node.children as Tree));
  });
}
