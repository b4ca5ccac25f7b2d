import { describe, expect, test } from 'vitest';
import type { Event } from '../src/api/types';
import { failureOf, Messages, textOf } from '../src/store/message';
import { event } from './fakes';

const agent = (parts: unknown[], more = {}) =>
  event('i1', { author: 'demo', content: contentOf({ role: 'model', parts }), ...more });

/** Content as the server stores it, which checks only that it is an object. */
const contentOf = (content: unknown) => content as Event['content'];

describe('messages', () => {
  test('parts become blocks in order', () => {
    const [message] = new Messages().of([
      agent([
        { thought: true, text: 'hm' },
        { text: 'yes' },
        { function_call: { id: 'c', name: 'look', args: { q: 1 } } },
        { inline_data: { mime_type: 'image/png', data: 'AA==' } },
        { file_data: { mime_type: 'text/plain', file_uri: 'https://x/y' } },
      ]),
    ]);
    expect(message?.blocks.map(({ kind }) => kind)).toEqual([
      'thought',
      'text',
      'call',
      'file',
      'file',
    ]);
    expect(message?.role).toBe('agent');
    expect(message && textOf(message)).toBe('yes');
  });

  test('a result is shown with its call in the same invocation', () => {
    const call = agent([{ function_call: { id: 'c', name: 'look', args_text: '{"q"' } }]);
    const other = agent([{ function_call: { id: 'c', name: 'look' } }], { invocation_id: 'i2' });
    const result = agent([
      { function_response: { id: 'c', name: 'look', response: { ok: true } } },
    ]);
    const messages = new Messages().of([call, result, other]);
    expect(messages.map(({ blocks }) => blocks)).toMatchObject([
      [{ kind: 'call', call: { id: 'c', name: 'look', args: '{"q"' }, result: { ok: true } }],
      [{ kind: 'call', call: { id: 'c', name: 'look', args: '{}' }, result: undefined }],
    ]);
  });

  test('a message stays the same object until its content changes', () => {
    const messages = new Messages();
    const call = agent([{ function_call: { id: 'c', name: 'look' } }]);
    const [before] = messages.of([call]);
    expect(messages.of([call])[0]).toBe(before);
    const result = agent([{ function_response: { id: 'c', response: null } }]);
    expect(messages.of([call, result])[0]).not.toBe(before);
  });

  test('an empty event is not a message, but a state change is', () => {
    const empty = event('i1');
    const marker = event('i1', { author: 'system', text: 'Session rewound' });
    const change = event('i1', { author: 'demo', actions: { state_delta: { a: null } } });
    expect(new Messages().of([empty, marker, change]).map(({ event }) => event)).toEqual([change]);
  });

  test('a stopped message is not a failed one', () => {
    const broken = (code: string) => agent([], { status: 'failed', error: { code, message: 'm' } });
    const [stopped, failed] = new Messages().of([broken('cancelled'), broken('other')]);
    expect([stopped?.stopped, stopped?.error]).toEqual([true, null]);
    expect([failed?.stopped, failed?.error?.code]).toEqual([false, 'other']);
  });

  test('malformed content is ignored', () => {
    for (const content of [null, {}, { parts: 'x' }, { parts: [null, 1, {}] }]) {
      expect(new Messages().of([event('i1', { content: contentOf(content) })])).toEqual([]);
    }
  });
});

describe('a tool call', () => {
  test.each([
    [{ error: 'no such city' }, 'no such city'],
    [{ error: { message: 'quota exceeded', code: 8 } }, 'quota exceeded'],
    [{ error: { code: 8 } }, '{"code":8}'],
    [{ error: true }, 'The call failed.'],
    [{ isError: true, content: [] }, 'The call failed.'],
    [{ status: 'error', error_message: 'no such city' }, 'no such city'],
    [{ status: 'error' }, 'The call failed.'],
  ])('failed with the result %j', (result, why) => expect(failureOf(result)).toBe(why));

  test.each([
    undefined,
    null,
    'error',
    7,
    {},
    { error: null },
    { error: '' },
    { isError: false },
    { status: 'success' },
  ])('did not fail with the result %j', (result) => expect(failureOf(result)).toBeNull());
});
