import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { errorText } from '../src/api/error';
import { Deliveries } from '../src/store/deliveries';
import { Loaded } from '../src/store/loaded';
import { Once } from '../src/store/once';
import { FAMILIES } from '../src/ui/settings/event-words';
import { linesOf } from '../src/ui/settings/lines';
import { type Asked, FakeServer } from './fakes';

const settled = () => vi.waitFor(() => {});

describe('a value that is read', () => {
  let read: (asked: number) => Promise<string>;
  let loaded: Loaded<string>;
  let asked = 0;
  let stop = () => {};

  beforeEach(() => {
    asked = 0;
    read = async (n) => `value ${n}`;
    loaded = new Loaded('thing', () => read(++asked));
    stop = loaded.start();
  });
  afterEach(() => stop());

  test('is read again when the tab gets the focus, until it is no longer shown', async () => {
    await vi.waitFor(() => expect(loaded.value.value).toBe('value 1'));
    dispatchEvent(new Event('focus'));
    await vi.waitFor(() => expect(loaded.value.value).toBe('value 2'));
    stop();
    dispatchEvent(new Event('focus'));
    await settled();
    expect(asked).toBe(2);
  });

  test('keeps the old value and says why, if it cannot be read', async () => {
    await vi.waitFor(() => expect(loaded.value.value).toBe('value 1'));
    read = async () => {
      throw new Error('broken');
    };
    await loaded.reload();
    expect([loaded.value.value, loaded.failed.value]).toEqual(['value 1', 'broken']);
    read = async () => 'whole';
    await loaded.reload();
    expect([loaded.value.value, loaded.failed.value]).toEqual(['whole', '']);
  });

  test('is not replaced by an older read', async () => {
    await vi.waitFor(() => expect(loaded.value.value).toBe('value 1'));
    let answer = (_: string) => {};
    read = () => new Promise((resolve) => (answer = resolve));
    const reading = loaded.reload();
    loaded.changed('mine');
    answer('before');
    await reading;
    expect(loaded.value.value).toBe('mine');
  });

  test('is read again when another tab has changed it', async () => {
    await vi.waitFor(() => expect(loaded.value.value).toBe('value 1'));
    const other = new Loaded('thing', async () => 'other');
    const stopOther = other.start();
    other.changed('other');
    await vi.waitFor(() => expect(asked).toBe(2));
    stopOther();
  });
});

describe('a write that is requested again', () => {
  const keys: string[] = [];
  const server = new FakeServer();
  const write = (once: Once, body: unknown) =>
    once.write(body, (key) => {
      keys.push(key);
      return server.api.webhooks.create({ url: 'https://a' }, { idempotencyKey: key, timeout: 1 });
    });
  beforeEach(() => {
    keys.length = 0;
  });

  test('has the same key while the outcome is unknown', async () => {
    const once = new Once();
    server.answer = () => [500, {}];
    await expect(write(once, 'a')).rejects.toThrow();
    await expect(write(once, 'a')).rejects.toThrow();
    await expect(write(once, 'b')).rejects.toThrow();
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  test('has a new key after an answer', async () => {
    const once = new Once();
    server.answer = () => [409, {}];
    await expect(write(once, 'a')).rejects.toThrow();
    server.answer = () => [201, { data: {} }];
    await write(once, 'a');
    await write(once, 'a');
    expect(new Set(keys).size).toBe(3);
  });
});

describe('the deliveries of a webhook', () => {
  const delivery = (id: string, state = 'delivered') => ({ id, state, next_attempt_time: null });
  let stored: ReturnType<typeof delivery>[];
  const server = new FakeServer();
  const page = ({ query }: Asked): [number, unknown] => {
    const from = query.cursor ? stored.findIndex(({ id }) => id === query.cursor) : 0;
    const data = stored.slice(from, from + 3);
    const next = stored[from + 3]?.id ?? null;
    return [200, { data, meta: { next_cursor: next } }];
  };
  const ids = (deliveries: Deliveries) => deliveries.list.value.map(({ id }) => id).join('');

  beforeEach(() => {
    stored = [...'hgfedcba'].map((id) => delivery(id));
    server.answer = page;
  });

  test('are read page by page, and the newest again', async () => {
    const deliveries = new Deliveries(server.api, 'w');
    await deliveries.refresh();
    await deliveries.loadMore();
    expect(ids(deliveries)).toBe('hgfedc');
    stored.unshift(delivery('i', 'pending'));
    await deliveries.refresh();
    expect(ids(deliveries)).toBe('ihgfedc');
    await deliveries.loadMore();
    expect([ids(deliveries), deliveries.more.value]).toEqual(['ihgfedcba', false]);
  });

  test('are read anew if too many are new', async () => {
    const deliveries = new Deliveries(server.api, 'w');
    await deliveries.refresh();
    stored.unshift(...[...'lkji'].map((id) => delivery(id)));
    await deliveries.refresh();
    expect(ids(deliveries)).toBe('lkj');
    await deliveries.loadMore();
    expect(ids(deliveries)).toBe('lkjihg');
  });

  test('are read again until an expected one has been tried', async () => {
    vi.useFakeTimers();
    const deliveries = new Deliveries(server.api, 'w');
    const stop = deliveries.start();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ids(deliveries)).toBe('hgf');
    const asked = server.asked.length;
    deliveries.expect(delivery('z', 'pending') as never);
    await vi.advanceTimersByTimeAsync(2500);
    stored.unshift(delivery('z'));
    await vi.advanceTimersByTimeAsync(2500);
    expect(ids(deliveries)).toBe('zhgf');
    const known = server.asked.length;
    expect(known).toBeGreaterThan(asked + 1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(server.asked.length).toBe(known);
    stop();
    vi.useRealTimers();
  });
});

test('names in a field are told apart, without blanks and repetitions', () => {
  expect(linesOf(' a \n\nb c\na\n')).toEqual(['a', 'b c']);
  expect(linesOf(null)).toEqual([]);
});

test('each family of events has its types', () => {
  expect(FAMILIES.map(({ family, types }) => `${family} ${types.length}`)).toEqual([
    'session.* 4',
    'run.* 4',
    'task.* 1',
    'feedback.* 1',
    'artifact.* 1',
  ]);
});

test('errors say what to do', async () => {
  const server = new FakeServer();
  const textOf = async (answer: [number, unknown]) => {
    server.answer = () => answer;
    return server.api.me.usage({ timeout: 1 }).then(String, (error: unknown) => errorText(error));
  };
  expect(await textOf([412, { detail: 'version 2' }])).toContain('changed elsewhere');
  expect(await textOf([429, { detail: 'the limit is 3' }])).toBe('the limit is 3');
});
