import { describe, expect, test } from 'vitest';
import type { Event } from '../src/api/types';
import { failuresIn, timeOf } from '../src/store/call-times';
import { grouped, joinCalls } from '../src/store/calls';
import { type CallBlock, Messages } from '../src/store/message';
import { duration } from '../src/ui/kit/time';
import { event } from './fakes';

const agent = (parts: unknown[], more: Partial<Event> = {}) =>
  event('i1', { author: 'demo', content: { role: 'model', parts } as Event['content'], ...more });

const call = (id: string, time: number, more = {}) =>
  agent([{ function_call: { id, name: id } }], { created_time: time, ...more });

const result = (id: string, time: number, response: unknown = {}) =>
  agent([{ function_response: { id, name: id, response } }], { created_time: time });

const callsOf = (events: Event[]): CallBlock[] =>
  new Messages().of(events).flatMap(({ blocks }) => blocks.filter((b) => b.kind === 'call'));

describe('tool calls', () => {
  test('in a row are a group', () => {
    const parts = ['a', 'b'].map((id) => ({ function_call: { id, name: id } }));
    const [message] = new Messages().of([agent([{ text: 'Wait' }, ...parts, { text: 'Done' }])]);
    expect(grouped(message?.blocks ?? []).map(({ kind }) => kind)).toEqual([
      'text',
      'calls',
      'text',
    ]);
  });

  test('of several messages are joined, up to one with text or a change', () => {
    const log = [
      call('a', 1),
      result('a', 2),
      call('b', 3),
      result('b', 4),
      call('c', 5, { actions: { state_delta: { x: 1 } } }),
      call('d', 6),
      agent([{ text: 'So.' }]),
    ];
    const messages = new Messages().of(log);
    const joined = joinCalls(messages);
    expect(joined.map(({ blocks }) => blocks.length)).toEqual([2, 1, 1, 1]);
    expect(joined[0]).toMatchObject({ id: messages[0]?.id, event: messages[1]?.event });
    expect(joinCalls(messages)[0]).toBe(joined[0]);
    expect(joined.slice(1)).toEqual(messages.slice(2));
  });

  test('joined messages change with the result of one', () => {
    const messages = new Messages();
    const log = [call('a', 1), call('b', 2)];
    const [before] = joinCalls(messages.of(log));
    const [after] = joinCalls(messages.of([...log, result('b', 3, { ok: 1 })]));
    expect(after).not.toBe(before);
    expect(after?.blocks[1]).toMatchObject({ result: { ok: 1 } });
  });

  test('of users, and of different agents, are not joined', () => {
    const other = call('b', 2, { author: 'other' });
    expect(joinCalls(new Messages().of([call('a', 1), other]))).toHaveLength(2);
  });

  test('take the time from the first call to the last result', () => {
    const log = [call('a', 1000), call('b', 1500), result('b', 3000), result('a', 5200)];
    expect(timeOf(callsOf(log))).toBe(4200);
    expect(timeOf(callsOf(log).slice(1))).toBe(1500);
  });

  test('have no time without a result, or if all was stored at once', () => {
    expect(timeOf(callsOf([call('a', 1000)]))).toBeNull();
    expect(timeOf(callsOf([call('a', 1000), result('a', 1001)]))).toBeNull();
  });

  test('that failed are counted', () => {
    const log = [call('a', 1), result('a', 2, { error: 'no' }), call('b', 3), result('b', 4)];
    expect(failuresIn(callsOf(log))).toBe(1);
  });
});

test.each([
  [340, '340 ms'],
  [4234, '4.2 s'],
  [59_990, '1 min 0 s'],
  [125_000, '2 min 5 s'],
])('a duration of %i is shown as %s', (time, text) => expect(duration(time)).toBe(text));
