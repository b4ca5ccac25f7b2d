import { expect, test, vi } from 'vitest';
import { Finder } from '../src/store/finder';
import { MessageSearch } from '../src/store/search';
import { FakeServer } from './fakes';

const match = { event_id: 'e', invocation_id: 'i', seq: 1, author: 'user', text: 'hello' };
const found = (id: string) => ({ id, name: id, match });
const page = (ids: string[], next: string | null) =>
  [200, { data: ids.map(found), meta: { next_cursor: next } }] as [number, unknown];

const ids = (search: MessageSearch) => search.found.value.map(({ id }) => id);

/** A search in which nothing is shared with the user, unless the test says so. */
function searching(
  answer: FakeServer['answer'],
  shared: FakeServer['answer'] = () => page([], null),
) {
  const server = new FakeServer();
  server.answer = (asked) => (asked.query.shared ? shared(asked) : answer(asked));
  return { server, search: new MessageSearch(server.api) };
}

test('a search follows short and empty pages to the last', async () => {
  const pages: Record<string, [number, unknown]> = {
    '': page([], 'one'),
    one: page(['a'], 'two'),
    two: page(['a', 'b'], null), // a was used meanwhile
  };
  const { server, search } = searching(
    ({ query }) => pages[String(query.cursor ?? '')] ?? page([], null),
  );
  search.search('hello');
  expect(search.state.value).toBe('searching');
  await vi.waitFor(() => expect(search.state.value).toBe('done'));
  expect(ids(search)).toEqual(['a', 'b']);
  expect(server.asked.map(({ query }) => [query.in, query.q])).toEqual(
    Array(4).fill(['messages', 'hello']),
  );
});

test('a search for other words ends the one before', async () => {
  const answers = new Map<string, (answer: [number, unknown]) => void>();
  const { search } = searching(
    ({ query }) => new Promise((resolve) => answers.set(String(query.q), resolve)),
  );
  search.search('one');
  await vi.waitFor(() => expect(answers.has('one')).toBe(true));
  search.search('two');
  await vi.waitFor(() => expect(answers.has('two')).toBe(true));
  answers.get('one')?.(page(['old'], null));
  answers.get('two')?.(page(['new'], null));
  await vi.waitFor(() => expect(search.state.value).toBe('done'));
  expect(ids(search)).toEqual(['new']);
});

test('a search that was stopped keeps what it found, and can go on', async () => {
  let release = (_: [number, unknown]) => {};
  const { search } = searching(({ query }) =>
    query.cursor
      ? new Promise((resolve) => {
          release = resolve;
        })
      : page(['a'], 'more'),
  );
  search.search('hello');
  await vi.waitFor(() => expect(ids(search)).toEqual(['a']));
  search.stop();
  release(page(['ignored'], null));
  expect([search.state.value, ids(search)]).toEqual(['stopped', ['a']]);
  search.resume();
  await vi.waitFor(() => expect(search.state.value).toBe('searching'));
  await vi.waitFor(() => {
    release(page(['b'], null));
    expect(search.state.value).toBe('done');
  });
  expect(ids(search)).toEqual(['a', 'b']);
});

test('a search pauses when it has found enough', async () => {
  let count = 0;
  const { search } = searching(() =>
    page(
      Array.from({ length: 20 }, () => `s${count++}`),
      'more',
    ),
  );
  search.search('hello');
  await vi.waitFor(() => expect(search.state.value).toBe('stopped'));
  expect(ids(search)).toHaveLength(40);
});

test('a search that failed says so, and can be tried again', async () => {
  let fails = true;
  const { search } = searching(() => (fails ? [400, { detail: 'no' }] : page(['a'], null)));
  search.search('hello');
  await vi.waitFor(() => expect(search.state.value).toBe('failed'));
  fails = false;
  search.resume();
  await vi.waitFor(() => expect(search.state.value).toBe('done'));
  expect(ids(search)).toEqual(['a']);
});

test('no words find nothing, without a request', () => {
  const { server, search } = searching(() => page(['a'], null));
  search.search('');
  expect([search.state.value, server.asked.length]).toEqual(['idle', 0]);
});

test('chats are found once typing pauses, and what is found for older words is ignored', async () => {
  const server = new FakeServer();
  server.answer = ({ query }) => page([`for ${query.q ?? 'nothing'}`], null);
  const finder = new Finder(server.api);
  finder.find('a');
  finder.find('ab');
  await vi.waitFor(() => expect(finder.found.value.map(({ id }) => id)).toEqual(['for ab']));
  expect(server.asked).toHaveLength(1);
});

test('chats of others are searched at the same time, page by page', async () => {
  let release = (_: [number, unknown]) => {};
  const { search } = searching(
    () => new Promise((resolve) => (release = resolve)),
    ({ query }) => (query.cursor ? page(['y'], null) : page(['x'], 'more')),
  );
  search.search('hello');
  await vi.waitFor(() => expect(search.shared.value.map(({ id }) => id)).toEqual(['x', 'y']));
  expect([search.state.value, ids(search), search.count.value]).toEqual(['searching', [], 2]);
  release(page(['a'], null));
  await vi.waitFor(() => expect(search.state.value).toBe('done'));
  expect([ids(search), search.count.value]).toEqual([['a'], 3]);
});

test('what one list has is shown if the other fails, which alone is tried again', async () => {
  let fails = true;
  const { server, search } = searching(
    () => page(['a'], null),
    () => (fails ? [400, { detail: 'no' }] : page(['x'], null)),
  );
  search.search('hello');
  await vi.waitFor(() => expect(search.state.value).toBe('failed'));
  expect(ids(search)).toEqual(['a']);
  fails = false;
  const asked = server.asked.length;
  search.resume();
  await vi.waitFor(() => expect(search.state.value).toBe('done'));
  expect([search.shared.value.length, server.asked.length]).toEqual([1, asked + 1]);
});

test('chats of others are found by their names once there are words', async () => {
  const server = new FakeServer();
  server.answer = ({ query }) => page([`${query.shared} ${query.q}`], null);
  const finder = new Finder(server.api, true);
  finder.find('');
  finder.find('trip');
  await vi.waitFor(() => expect(finder.found.value.map(({ id }) => id)).toEqual(['true trip']));
  finder.find(' ');
  expect([finder.found.value, server.asked.length]).toEqual([[], 1]);
});
