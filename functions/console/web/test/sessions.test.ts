import { beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../src/api/types';
import { type ListKind, Sessions } from '../src/store/sessions';
import { type Asked, FakeServer, session } from './fakes';

let server: FakeServer;
let pages: Record<string, [Session[], string | null]>;
let sessions: Sessions;
let told: unknown[];
let opened: (kind: ListKind) => Sessions;

beforeEach(() => {
  server = new FakeServer();
  told = [];
  server.answer = ({ method, query }: Asked) => {
    if (method !== 'GET') return [204];
    const [data, next] = pages[query.cursor ?? ''] ?? [[], null];
    return [200, { data, meta: { next_cursor: next } }];
  };
  const channel = { postMessage: (message: unknown) => told.push(message) };
  opened = (kind) => new Sessions(server.api, kind, channel as unknown as BroadcastChannel);
  sessions = opened('mine');
});

const at = (id: string, time: number, more = {}) => session(id, { updated_time: time, ...more });
const ids = () => sessions.list.value.map(({ id }) => id);

describe('the list of sessions', () => {
  test('grows by pages and keeps them when its top is reloaded', async () => {
    pages = { '': [[at('c', 30), at('b', 20)], 'two'], two: [[at('a', 10)], null] };
    await sessions.refresh();
    expect([ids(), sessions.more.value]).toEqual([['c', 'b'], true]);
    await sessions.loadMore();
    expect([ids(), sessions.more.value]).toEqual([['c', 'b', 'a'], false]);
    pages[''] = [[at('b', 40), at('c', 30)], 'two'];
    await sessions.refresh();
    expect(ids()).toEqual(['b', 'c', 'a']);
  });

  test('tells whose answers have ended since they were open', async () => {
    const running = { status: 'in_progress' } as const;
    pages = { '': [[at('c', 30, running), at('b', 20, running), at('a', 10)], null] };
    await sessions.refresh();
    expect([...sessions.answered.value]).toEqual([]);
    pages[''] = [[at('c', 31), at('b', 21, { status: 'failed' }), at('a', 10)], null];
    await sessions.refresh();
    expect([...sessions.answered.value]).toEqual(['c']);
    sessions.see('c');
    expect([...sessions.answered.value]).toEqual([]);
  });

  test('removes sessions deleted elsewhere', async () => {
    pages = { '': [[at('c', 30), at('b', 20)], null] };
    await sessions.refresh();
    pages[''] = [[at('b', 20)], null];
    await sessions.refresh();
    expect(ids()).toEqual(['b']);
  });

  test('stays the same object while nothing changes', async () => {
    pages = { '': [[at('c', 30)], null] };
    await sessions.refresh();
    const before = sessions.list.value;
    await sessions.refresh();
    expect(sessions.list.value).toBe(before);
  });

  test('searches on past empty pages', async () => {
    pages = { '': [[], 'two'], two: [[], 'three'], three: [[at('a', 10)], null] };
    await sessions.search('a');
    expect(ids()).toEqual(['a']);
    expect(server.asked.map(({ query }) => query.q)).toEqual(['a', 'a', 'a']);
  });

  test('shows the results of the newest search, whichever response arrives last', async () => {
    let slow: (() => void) | undefined;
    server.answer = async ({ query }: Asked) => {
      if (query.q === 'old')
        await new Promise<void>((done) => {
          slow = done;
        });
      return [200, { data: [at(query.q ?? '', 1)], meta: { next_cursor: null } }];
    };
    const old = sessions.search('old');
    await sessions.search('new');
    slow?.();
    await old;
    expect(ids()).toEqual(['new']);
  });

  test('applies renames and deletions at once and notifies other tabs', async () => {
    pages = { '': [[at('a', 10)], null] };
    await sessions.refresh();
    server.answer = ({ method }) =>
      method === 'PATCH' ? [200, { data: at('a', 10, { name: 'new' }) }] : [503, { status: 503 }];
    await sessions.rename('a', 'new');
    expect(sessions.list.value.map(({ name }) => name)).toEqual(['new']);
    server.answer = ({ method }) => (method === 'DELETE' ? [204] : [503, { status: 503 }]);
    await sessions.remove('a');
    expect([ids(), told.length]).toEqual([[], 2]);
  });

  test('has no session of others, even if this tab has changed one', async () => {
    pages = { '': [[at('a', 10)], null] };
    await sessions.refresh();
    sessions.changed(at('b', 20, { access: 'write' }));
    expect(ids()).toEqual(['a']);
  });

  test('stays when it cannot be loaded', async () => {
    pages = { '': [[at('a', 10)], null] };
    await sessions.refresh();
    server.answer = () => [503, { status: 503, detail: 'no' }];
    await sessions.refresh();
    expect([ids(), sessions.failed.value]).toEqual([['a'], true]);
  });
});

describe('the list of sessions shared with the user', () => {
  const theirs = (id: string, time: number) => at(id, time, { access: 'read', user_id: 'bob' });

  beforeEach(() => {
    sessions = opened('shared');
    pages = { '': [[theirs('c', 30), theirs('b', 20)], 'two'], two: [[theirs('a', 25)], null] };
  });

  test('is in order although its pages are in none, also after a reload', async () => {
    await sessions.refresh();
    await sessions.loadMore();
    expect([ids(), sessions.more.value]).toEqual([['c', 'a', 'b'], false]);
    pages.two = [[theirs('a', 40)], null];
    await sessions.refresh();
    expect([ids(), sessions.more.value]).toEqual([['a', 'c', 'b'], false]);
    expect(new Set(server.asked.map(({ query }) => query.shared))).toEqual(new Set(['true']));
  });

  test('begins with one page again after a search', async () => {
    await sessions.refresh();
    await sessions.loadMore();
    await sessions.search('c');
    server.asked.length = 0;
    await sessions.refresh();
    expect(server.asked.length).toBe(1);
  });

  test('loses a session that was left, or is shared no longer', async () => {
    await sessions.refresh();
    pages[''] = [[theirs('c', 30)], null];
    sessions.gone('b');
    expect([ids(), told.length]).toEqual([['c'], 1]);
    pages[''] = [[], null];
    await sessions.refresh();
    expect(ids()).toEqual([]);
  });

  test('has no session of the user', async () => {
    await sessions.refresh();
    sessions.changed(at('mine', 50));
    expect(ids()).toEqual(['c', 'b']);
  });
});
