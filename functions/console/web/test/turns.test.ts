import { describe, expect, test } from 'vitest';
import { Messages } from '../src/store/message';
import { inputOf, type RunState, rowsOf, turnsOf } from '../src/store/turns';
import { event } from './fakes';

const idle: RunState = { status: 'idle', run: '', error: null };
const error = { code: 'c', message: 'm' };
const turns = (events: ReturnType<typeof event>[], state = idle) =>
  turnsOf(new Messages().of(events), state);
const ask = (invocation: string) => event(invocation, { text: 'question' });
const answer = (invocation: string, more = {}) =>
  event(invocation, { author: 'demo', text: 'answer', ...more });

describe('turns', () => {
  test('each invocation is a turn, and only the first is marked as first', () => {
    const shown = turns([ask('a'), answer('a'), ask('b')]);
    expect(
      shown.map(({ invocation, messages, first }) => [invocation, messages.length, first]),
    ).toEqual([
      ['a', 2, true],
      ['b', 1, false],
    ]);
  });

  test('each turn has its outcome', () => {
    const stopped = answer('b', { status: 'failed', error: { code: 'cancelled', message: '' } });
    const failed = answer('c', { status: 'failed', error });
    const state: RunState = { status: 'in_progress', run: 'd', error: null };
    const shown = turns([ask('a'), ask('b'), stopped, ask('c'), failed, ask('d')], state);
    expect(shown.map(({ outcome }) => outcome)).toEqual([
      'completed',
      'stopped',
      'failed',
      'running',
    ]);
  });

  test('an answer that was interrupted and continued has not failed', () => {
    const lost = { code: 'interrupted', message: 'the worker was lost' };
    const half = answer('a', { status: 'failed', error: lost });
    const running: RunState = { status: 'in_progress', run: 'a', error: null };
    expect(turns([ask('a'), half], running).map(({ outcome }) => outcome)).toEqual(['running']);
    const [turn] = turns([ask('a'), half, answer('a')]);
    expect([turn?.outcome, turn?.error]).toEqual(['completed', null]);
    expect(turn?.messages.map(({ interrupted }) => interrupted)).toEqual([false, true, false]);
    const [failed] = turns([ask('a'), half], { status: 'failed', run: 'a', error });
    expect([failed?.outcome, failed?.error]).toEqual(['failed', error]);
  });

  test('a failed run without output has the error of the session', () => {
    const [turn] = turns([ask('a')], { status: 'failed', run: 'a', error });
    expect([turn?.outcome, turn?.error]).toEqual(['failed', error]);
  });

  test('a file that is saved for a turn leaves the buttons to its answer', () => {
    const file = event('a', { actions: { artifact_delta: { 'plan.md': 0 } } });
    const lasts = (events: ReturnType<typeof event>[], state = idle) =>
      rowsOf(turns(events, state)).map((row) => row.kind === 'message' && row.last);
    expect(lasts([ask('a'), answer('a'), file])).toEqual([false, true, false]);
    expect(lasts([ask('a'), file])).toEqual([false, true]);
    const broken = answer('a', { status: 'failed', error });
    expect(lasts([ask('a'), broken, file])).toEqual([false, true, false]); // no row for the failure
  });

  test('there is a waiting row until the first output', () => {
    const state: RunState = { status: 'in_progress', run: 'a', error: null };
    expect(rowsOf(turns([ask('a')], state)).map(({ kind }) => kind)).toEqual([
      'message',
      'waiting',
    ]);
    const saying = answer('a', { status: 'in_progress' });
    expect(rowsOf(turns([ask('a'), saying], state)).map(({ kind }) => kind)).toEqual([
      'message',
      'message',
    ]);
  });

  test('a failure without an answer has its own row', () => {
    const rows = rowsOf(turns([ask('a')], { status: 'failed', run: 'a', error }));
    expect(rows.map(({ kind }) => kind)).toEqual(['message', 'failure']);
  });

  test('the first turn of a partly loaded session may lack messages', () => {
    const messages = new Messages().of([answer('a'), ask('b')]);
    expect(turnsOf(messages, idle, true).map(({ first, cut }) => [first, cut])).toEqual([
      [false, true],
      [false, false],
    ]);
  });

  test('a retry sends the same input', () => {
    const [turn] = turns([ask('a'), answer('a')]);
    expect(turn && inputOf(turn)).toEqual([
      { author: 'user', content: { role: 'user', parts: [{ text: 'question' }] } },
    ]);
  });
});
