// The keys of the console. What handles a key asks here whether it was pressed, and the list of keys
// (dialog.tsx) and the table in docs/console.md are made from here, so they cannot differ.

export type Group = 'Everywhere' | 'In a chat' | 'In the message field';

export interface KeyBinding {
  id: string;
  /** Alternatives, like `Mod+Shift+O`. Mod is Ctrl, and on Apple's systems Command. */
  keys: readonly string[];
  label: string;
  group: Group;
  /** A single character, which speech input and screen readers may type; it can be turned off. */
  character?: boolean;
}

const all = [
  {
    id: 'palette',
    keys: ['Mod+K'],
    label: 'Find a chat or an action',
    group: 'Everywhere',
  },
  { id: 'new', keys: ['Mod+Shift+O'], label: 'New chat', group: 'Everywhere' },
  {
    id: 'sidebar',
    keys: ['Mod+B'],
    label: 'Show or hide the list of chats',
    group: 'Everywhere',
  },
  { id: 'search', keys: ['/'], label: 'Search', group: 'Everywhere', character: true },
  { id: 'help', keys: ['?'], label: 'Show the keys', group: 'Everywhere', character: true },
  { id: 'stop', keys: ['Escape'], label: 'Stop the answer', group: 'In a chat' },
  {
    id: 'undo',
    keys: ['Mod+Z'],
    label: 'Undo a rewind, an edited question or another answer',
    group: 'In a chat',
  },
  { id: 'send', keys: ['Enter'], label: 'Send', group: 'In the message field' },
  {
    id: 'line',
    keys: ['Shift+Enter'],
    label: 'Start a new line',
    group: 'In the message field',
  },
  {
    id: 'edit',
    keys: ['ArrowUp'],
    label: 'Edit your newest question, if the field is empty',
    group: 'In the message field',
  },
] as const satisfies readonly KeyBinding[];

export type KeyId = (typeof all)[number]['id'];

export const bindings: readonly (KeyBinding & { id: KeyId })[] = all;

export const bindingOf = (id: KeyId): KeyBinding & { id: KeyId } => {
  const binding = bindings.find((one) => one.id === id);
  if (!binding) throw new Error(`there is no key ${id}`);
  return binding;
};

/** Whether an event is a press of a key; never while an input method composes a text. */
export function pressed(event: KeyboardEvent, id: KeyId): boolean {
  if (event.isComposing || event.keyCode === COMPOSING) return false;
  return bindingOf(id).keys.some((keys) => matches(event, keys));
}

const COMPOSING = 229; // key code of the event that ends a composition, in Safari

function matches(event: KeyboardEvent, keys: string): boolean {
  const parts = keys.split('+');
  const name = parts.at(-1) ?? '';
  const { ctrlKey, metaKey, altKey, shiftKey } = event;
  if (parts.includes('Mod') ? ctrlKey === metaKey : ctrlKey || metaKey) return false;
  if (altKey) return false;
  // On some keyboards, / and ? are typed with Shift, and on others without.
  if (isSign(name)) return event.key === name;
  return shiftKey === parts.includes('Shift') && named(event) === name.toLowerCase();
}

// A letter by its place on the keyboard, where the layout types others.
function named({ key, code }: KeyboardEvent): string {
  const place = /^Key([A-Z])$/.exec(code)?.[1];
  return (place && !/^[\x20-\x7e]$/.test(key) ? place : key).toLowerCase();
}

const isSign = (name: string): boolean => name.length === 1 && !/[A-Z]/.test(name);
