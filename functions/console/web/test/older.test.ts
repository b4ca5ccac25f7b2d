import { beforeEach, describe, expect, test } from 'vitest';
import type { Event, InputEvent } from '../src/api/types';
import { event, FakeServer, fakeChat } from './fakes';

// A session of turns a, b and c, of which the chat holds a number of the newest events.
const ask = (invocation: string, seq: number) => event(invocation, { seq, text: `${invocation}?` });
const answer = (invocation: string, seq: number) =>
  event(invocation, { seq, author: 'demo', text: `${invocation}!` });
const all = [ask('a', 1), answer('a', 2), ask('b', 3), answer('b', 4), ask('c', 5), answer('c', 6)];

let server: FakeServer;
let pages: number;

beforeEach(() => {
  server = new FakeServer();
  pages = 0;
});

function opened(count: number, size: number, more = {}) {
  const fake = fakeChat(server);
  let held = count;
  const show = () => {
    const items: Event[] = all.slice(-held);
    fake.show({ items, has_older: held < all.length, ...more });
  };
  show();
  fake.older.read = async () => {
    pages++;
    held = Math.min(all.length, held + size);
    show();
  };
  return fake;
}

describe('a session that is loaded from some message on', () => {
  test('loads another page on demand, one at a time', async () => {
    const { chat } = opened(2, 2);
    expect([chat.messages.value.length, chat.older.more.value]).toEqual([2, true]);
    await Promise.all([chat.older.load(), chat.older.load()]);
    expect([chat.messages.value.length, chat.older.more.value, pages]).toEqual([4, true, 1]);
    await chat.older.load();
    expect([chat.messages.value.length, chat.older.more.value]).toEqual([6, false]);
    expect(chat.turns.value.map(({ first }) => first)).toEqual([true, false, false]);
  });

  test('reports an error until the next attempt', async () => {
    const { chat, older } = opened(2, 2);
    const read = older.read;
    older.read = () => Promise.reject(new TypeError('failed to fetch'));
    expect(await chat.older.load()).toBe(false);
    expect(chat.older.failed.value).toMatch(/could not be loaded/);
    expect(await chat.find('a')).toBe(false);
    older.read = read;
    expect(await chat.older.load()).toBe(true);
    expect([chat.older.failed.value, chat.older.loading.value]).toEqual(['', false]);
  });

  test('is loaded back to an invocation and no further', async () => {
    const { chat } = opened(1, 1);
    expect(await chat.find('b')).toBe(true);
    expect([chat.messages.value.length, pages]).toEqual([3, 2]);
    expect(await chat.find('nowhere')).toBe(false);
    expect(chat.older.more.value).toBe(false);
  });

  test('is loaded back to a position', async () => {
    const { chat } = opened(1, 1);
    expect(await chat.reach(4)).toBe(true);
    expect(chat.items.value[0]?.seq).toBe(4);
    expect(await chat.reach(0)).toBe(true);
    expect(chat.items.value.length).toBe(6);
  });

  test('retries a failed turn with its complete input', async () => {
    const error = { code: 'c', message: 'm' };
    const { chat } = opened(1, 1, { status: 'failed', run_id: 'c', error });
    const [turn] = chat.turns.value;
    expect([turn?.cut, turn?.messages.length]).toEqual([true, 1]);
    await (turn && chat.revision.regenerate(turn));
    const asked = server.asked.find(({ path }) => path.endsWith('/runs'));
    const body = asked?.body as { input: InputEvent[] } | undefined;
    expect(body?.input.map(({ content }) => content)).toEqual([
      { role: 'user', parts: [{ text: 'c?' }] },
    ]);
  });
});
