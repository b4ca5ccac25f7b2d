import { describe, expect, test } from 'vitest';
import { namesOf } from '../src/ui/keys/names';
import { bindings, type KeyId, pressed } from '../src/ui/keys/registry';

const press = (key: string, more: KeyboardEventInit = {}) =>
  new KeyboardEvent('keydown', { key, ...more });

const pressedIds = (event: KeyboardEvent): KeyId[] =>
  bindings.map(({ id }) => id).filter((id) => pressed(event, id));

describe('a key', () => {
  test.each([
    ['k', { ctrlKey: true }, ['palette']],
    ['k', { metaKey: true }, ['palette']],
    ['k', { ctrlKey: true, metaKey: true }, []],
    ['k', { ctrlKey: true, shiftKey: true }, []],
    ['k', { ctrlKey: true, altKey: true }, []],
    ['k', {}, []],
    ['л', { ctrlKey: true, code: 'KeyK' }, ['palette']],
    ['O', { ctrlKey: true, shiftKey: true }, ['new']],
    ['/', {}, ['search']],
    ['/', { shiftKey: true, code: 'Digit7' }, ['search']],
    ['/', { ctrlKey: true }, []],
    ['?', { shiftKey: true }, ['help']],
    ['Enter', {}, ['send']],
    ['Enter', { shiftKey: true }, ['line']],
    ['Enter', { isComposing: true }, []],
    ['Escape', {}, ['stop']],
    ['Escape', { keyCode: 229 }, []],
    ['ArrowUp', {}, ['edit']],
    ['ArrowUp', { shiftKey: true }, []],
    ['z', { metaKey: true }, ['undo']],
  ] as const)('%s with %j', (key, more, ids) => {
    expect(pressedIds(press(key, more))).toEqual(ids);
  });

  test('means one thing', () => {
    const keys = bindings.flatMap((binding) => binding.keys);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('of a single character can be turned off', () => {
    for (const { id, keys, character = false } of bindings) {
      expect([id, character]).toEqual([id, keys.some((key) => key.length === 1)]);
    }
  });
});

test.each([
  ['Mod+Shift+O', 'MacIntel', ['⌘', 'Shift', 'O']],
  ['Mod+K', 'Linux x86_64', ['Ctrl', 'K']],
  ['ArrowUp', 'Win32', ['↑']],
])('%s is shown on %s', (keys, platform, names) => {
  expect(namesOf(keys, platform)).toEqual(names);
});
