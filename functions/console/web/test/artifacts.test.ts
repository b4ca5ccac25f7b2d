import { signal } from '@preact/signals-core';
import { describe, expect, test, vi } from 'vitest';
import type { Event } from '../src/api/types';
import { Artifacts, nameFor, readable, restoredFrom } from '../src/store/artifacts';
import { kindOf, sizeOf } from '../src/ui/artifact/kind';
import { event, FakeServer } from './fakes';

const version = (name: string, number = 0) => ({
  name,
  version: number,
  mime_type: 'text/plain',
  size: 1,
  created_time: 1,
});

test('the list is reloaded only when the conversation names a version', async () => {
  const server = new FakeServer();
  server.answer = () => [200, { data: [version('a')], meta: { next_cursor: null } }];
  const chat = { id: 's1', items: signal<readonly Event[]>([]), epoch: signal(0) };
  const artifacts = new Artifacts(server.api, chat);
  const failed = vi.fn();
  const stop = artifacts.follow(failed);
  await vi.waitFor(() => expect(artifacts.list.value).toHaveLength(1));
  chat.items.value = [event('one', { text: 'Hello' })];
  expect(server.asked).toHaveLength(1);
  chat.items.value = [event('one', { actions: { artifact_delta: { a: 1 } } })];
  chat.epoch.value = 1;
  await vi.waitFor(() => expect(server.asked).toHaveLength(3));
  stop();
  chat.epoch.value = 2;
  expect([server.asked.length, failed.mock.calls.length]).toEqual([3, 0]);
});

test('all pages of a list are loaded', async () => {
  const server = new FakeServer();
  server.answer = ({ query }) =>
    query.cursor
      ? [200, { data: [version('a', 1)], meta: { next_cursor: null } }]
      : [200, { data: [version('a', 0)], meta: { next_cursor: 'more' } }];
  const chat = { id: 's1', items: signal<readonly Event[]>([]), epoch: signal(0) };
  const versions = await new Artifacts(server.api, chat).versions('a');
  expect(versions.map(({ version: number }) => number)).toEqual([1, 0]);
});

describe('a name', () => {
  test.each([
    ['notes.md', false, 'notes.md'],
    ['notes.md', true, 'user:notes.md'],
    ['a/b\n.txt', false, 'a_b_.txt'],
    ['..', false, '_'],
    ['user:mine', false, 'user_mine'],
    [`${'x'.repeat(200)}.txt`, true, `user:${'x'.repeat(119)}.txt`],
  ])('of the file %j (shared: %j) is one that the API takes', (file, shared, name) => {
    expect(nameFor(file, shared)).toBe(name);
  });

  test('is shown without its prefix', () => {
    expect(readable('user:a')).toEqual({ label: 'a', shared: true });
    expect(readable('a')).toEqual({ label: 'a', shared: false });
  });
});

test('a version created by a rewind names the restored one', () => {
  const reference = 'artifact://session/s1/plan.json/3';
  expect(restoredFrom({ ...version('plan.json', 5), reference })).toBe(3);
  expect(restoredFrom(version('plan.json'))).toBeNull();
});

test.each([
  ['image/png', 'a', 'picture'],
  ['image/svg+xml', 'a', 'picture'],
  ['text/html; charset=utf-8', 'a', 'text'],
  ['text/markdown', 'a', 'markdown'],
  ['text/plain', 'README.md', 'markdown'],
  ['application/json', 'a', 'json'],
  ['application/ld+json', 'a', 'json'],
  ['application/pdf', 'a.pdf', 'other'],
  ['', 'a', 'other'],
])('%j named %j is shown as %s', (mime, name, kind) => {
  expect(kindOf(mime, name)).toBe(kind);
});

test('sizes are formatted with units', () => {
  expect([999, 1500, 2_340_000].map(sizeOf)).toEqual(['999 B', '1.5 kB', '2.3 MB']);
});
