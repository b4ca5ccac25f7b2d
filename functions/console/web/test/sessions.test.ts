import { beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../src/api/types';
import { Sessions } from '../src/store/sessions';
import { type Asked, FakeServer, session } from './fakes';

let server: FakeServer;
let pages: Record<string, [Session[], string | null]>;
let sessions: Sessions;
let told: unknown[];

beforeEach(() => {
  server = new FakeServer();
  told = [];
  server.answer = ({ method, query }: Asked) => {
    if (method !== 'GET') return [204];
    const [data, next] = pages[query.cursor ?? ''] ?? [[], null];
    return [200, { data, meta: { next_cursor: next } }];
  };
  const channel = { postMessage: (message: unknown) => told.push(message) };
  sessions = new Sessions(server.api, channel as unknown as BroadcastChannel);
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
