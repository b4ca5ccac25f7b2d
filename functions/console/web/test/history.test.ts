import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Event } from '../src/api/types';
import { History } from '../src/store/history';
import { historyRows } from '../src/store/history-rows';
import { Messages } from '../src/store/message';
import { type Asked, event, FakeServer, fakeChat, session } from './fakes';
import { log } from './logs';

let server: FakeServer;
let entries: Event[];

beforeEach(() => {
  server = new FakeServer();
  server.answer = ({ path, query }: Asked) => {
    if (!path.endsWith('/events')) return [200, { data: session('s1') }];
    const { after = '0', limit = '100', order } = query;
    const some = entries.filter(({ seq }) => seq > Number(after));
    const page = order === 'desc' ? some.reverse() : some;
    const more = page.length > Number(limit);
    return [
      200,
      { data: page.slice(0, Number(limit)), meta: { next_cursor: more ? 'more' : null } },
    ];
  };
});

const long = (turns: number) => log(Array.from({ length: turns }, (_, i) => `t${i + 1}`).join(' '));

function open(shown: Event[]) {
  const { chat, show } = fakeChat(server);
  show({ items: shown });
  const history = new History(chat, server.api);
  const stop = history.start();
  const keys = () => history.rows.value.map(({ invocation }) => invocation);
  return { history, show, stop, keys };
}

describe('the history', () => {
  test('shows the newest entries first, and older ones on demand', async () => {
    entries = long(250);
    const { history, keys } = open(entries);
    await vi.waitFor(() => expect(keys().length).toBe(100));
    expect([keys()[0], history.more.value]).toEqual(['t151', true]);
    await Promise.all([history.loadOlder(), history.loadOlder()]);
    expect([keys()[0], keys().length, history.more.value]).toEqual(['t1', 250, false]);
  });

  test('shows no entry as hidden that the chat has not loaded, and loads both further back', async () => {
    entries = long(250);
    const { chat, show, older } = fakeChat(server);
    let held = 40;
    const update = () => show({ items: entries.slice(-held), has_older: held < 250 });
    older.read = async () => {
      held = Math.min(250, held + 40);
      update();
    };
    update();
    const history = new History(chat, server.api);
    const stop = history.start();
    const hidden = () => history.rows.value.filter((row) => row.kind === 'message' && row.hidden);
    await vi.waitFor(() => expect(history.rows.value.length).toBe(100));
    expect(held).toBe(120);
    await history.loadOlder();
    expect([held, history.rows.value.length, hidden(), history.more.value]).toEqual([
      200,
      200,
      [],
      true,
    ]);
    await history.loadOlder();
    expect([history.rows.value.length, hidden(), history.more.value]).toEqual([250, [], false]);
    stop();
  });

  test('loads entries until it has found an invocation', async () => {
    entries = long(450);
    const { history, keys } = open(entries);
    expect(await history.find('t120')).toBe(true);
    expect(keys()[0]).toBe('t51');
    expect(await history.find('t999')).toBe(false);
  });

  test('follows the chat and marks what a rewind has hidden', async () => {
    entries = log('a b');
    const [a, b] = entries;
    if (!a || !b) throw new Error('unreachable');
    const { history, show, keys } = open([a]);
    await vi.waitFor(() => expect(history.ready.value).toBe(true));
    show({ items: [a, b] });
    entries = log('a b c <b');
    const again = [entries[0] as Event];
    show({ items: again, epoch: 1 });
    await vi.waitFor(() => expect(keys()).toEqual(['a', 'b', 'c', '<b']));
    const hidden = history.rows.value.map((row) => row.kind === 'message' && row.hidden);
    expect(hidden.slice(1)).toEqual([true, true, false]);
  });

  test('returns the boundary of a rewind that keeps a message', async () => {
    entries = log('a b <b c');
    const { history } = open([]);
    await vi.waitFor(() => expect(history.ready.value).toBe(true));
    expect(entries.map((entry) => history.following(entry))).toEqual(['b', '<b', 'c', null]);
  });

  test('reports an error and can be retried', async () => {
    entries = long(150);
    const { history } = open([]);
    await vi.waitFor(() => expect(history.ready.value).toBe(true));
    const answer = server.answer;
    server.answer = () => [500, { status: 500, detail: 'Internal error.' }];
    await history.loadOlder();
    expect(history.failed.value).toBe('Internal error.');
    server.answer = answer;
    await history.loadOlder();
    expect([history.failed.value, history.more.value]).toEqual(['', false]);
  });
});

test('the entry that repeats the changes of a streamed answer is no row', () => {
  const actions = { state_delta: { city: 'Lisbon' } };
  const log = [
    event('a', { text: 'Remember Lisbon' }),
    event('a', { author: 'demo', text: 'I will.', actions }),
    event('a', { author: 'demo', actions, type: 'state', item_id: 'e2' }),
  ];
  const idle = { status: 'idle', run: '', error: null } as const;
  const rows = historyRows(log, new Set(), new Messages(), idle);
  expect(rows.map(({ key }) => key)).toEqual(log.slice(0, 2).map(({ id }) => id));
});
