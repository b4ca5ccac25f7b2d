import { expect, test } from 'vitest';
import { keysOf, momentsOf, scopesOf, stateAfter } from '../src/store/state';
import { event } from './fakes';

const start = event('start', { author: 'system', actions: { state_delta: { mood: 'good' } } });
const words = event('one', { text: 'Hello' });
const set = event('one', {
  author: 'demo',
  actions: { state_delta: { mood: 'bad', 'user:name': 'Ada', 'temp:step': 1 } },
});
const unset = event('two', { author: 'demo', actions: { state_delta: { mood: null, n: 0 } } });
const passing = event('two', { author: 'demo', actions: { state_delta: { 'temp:step': 2 } } });
const log = [start, words, set, unset, passing];

test('moments are the events that changed stored state', () => {
  expect(momentsOf(log)).toEqual([start, set, unset]);
  expect(keysOf(set)).toEqual(['mood', 'user:name']);
});

test('the state after an event has the values set up to it, without removed ones', () => {
  const after = (seq: number) => stateAfter(momentsOf(log), seq);
  expect(after(start.seq - 1)).toEqual({});
  expect(after(start.seq)).toEqual({ mood: 'good' });
  expect(after(words.seq)).toEqual({ mood: 'good' });
  expect(after(set.seq)).toEqual({ mood: 'bad', 'user:name': 'Ada' });
  expect(after(passing.seq)).toEqual({ 'user:name': 'Ada', n: 0 });
});

test('scopes are distinguished by prefix and sorted by name', () => {
  expect(scopesOf({ b: 1, 'user:z': 2, 'app:x': 3, a: 4, users: 5 })).toEqual({
    session: [
      { key: 'a', name: 'a', value: 4 },
      { key: 'b', name: 'b', value: 1 },
      { key: 'users', name: 'users', value: 5 },
    ],
    user: [{ key: 'user:z', name: 'z', value: 2 }],
    app: [{ key: 'app:x', name: 'x', value: 3 }],
  });
});

test('keys such as __proto__ are ordinary keys', () => {
  const odd = event('one', { actions: { state_delta: JSON.parse('{"__proto__": 1}') } });
  expect(Object.keys(stateAfter([odd], odd.seq))).toEqual(['__proto__']);
});
