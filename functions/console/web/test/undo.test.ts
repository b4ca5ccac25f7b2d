import { beforeEach, describe, expect, test } from 'vitest';
import type { Event } from '../src/api/types';
import { type Answer, type Asked, event, FakeServer, fakeChat, session } from './fakes';

let server: FakeServer;
let log: Event[];
let refusals: Answer[];

beforeEach(() => {
  server = new FakeServer();
  log = [];
  refusals = [];
  server.answer = ({ path, query }: Asked) => {
    if (path.endsWith('/events')) {
      const data = log.filter(({ seq }) => seq > Number(query.after));
      return [200, { data, meta: { next_cursor: null } }];
    }
    if (!path.endsWith('/rewind')) return [200, { data: session('s1') }];
    const refusal = refusals.shift();
    if (refusal) return refusal;
    const marker = event(`undo-${rewinds().length}`, { author: 'system', seq: 100 });
    const done = { event: marker, session: session('s1', { epoch: 9 }), conflicts: [] };
    return [200, { data: { ...done, restored: { state: {}, artifacts: {} } } }];
  };
});

interface Body {
  rewind_before_invocation_id: string;
  expected_seq: number;
  cancel_run: boolean;
}

const rewinds = () =>
  server.asked.filter(({ path }) => path.endsWith('/rewind')).map(({ body }) => body as Body);
const boundaries = () => rewinds().map((body) => body.rewind_before_invocation_id);

const step = (marker: string, since: number, ...own: string[]) => ({
  marker,
  since,
  own: new Set(own),
});

describe('an undo', () => {
  test('is a rewind to before the marker, at the head of the log as it was read', async () => {
    const { chat, toasts } = fakeChat(server);
    log = [event('run', { seq: 8 }), event('run', { seq: 9, author: 'demo' })];
    chat.undo.did(step('m', 7, 'run'), 'Asked again.');
    expect(chat.undo.ready.value).toBe(true);
    await chat.undo.undo();
    expect(rewinds()).toMatchObject([
      { rewind_before_invocation_id: 'm', expected_seq: 9, cancel_run: true },
    ]);
    expect([chat.undo.ready.value, toasts.list.value.at(-1)?.text]).toEqual([false, 'Undone.']);
    expect(chat.session.value?.epoch).toBe(9);
    await chat.undo.undo();
    expect(rewinds().length).toBe(1);
  });

  test('takes away nothing that others have added since', async () => {
    const { chat, toasts } = fakeChat(server);
    chat.undo.did(step('m', 7, 'run'));
    for (const foreign of [
      event('other', { seq: 9, text: 'And mine?' }),
      event('<x', { seq: 9, author: 'system' }),
    ]) {
      log = [event('run', { seq: 8 }), foreign];
      await chat.undo.undo();
      expect(rewinds()).toEqual([]);
      expect(toasts.list.value.at(-1)?.text).toContain('the chat has gone on since');
    }
    log = [event('other', { seq: 8, author: '' })]; // the record of a task
    await chat.undo.undo();
    expect(boundaries()).toEqual(['m']);
  });

  test('looks again while its own answer grows, but not for ever', async () => {
    const { chat, toasts } = fakeChat(server);
    chat.undo.did(step('m', 7));
    const moved: Answer = [409, { status: 409, detail: 'the head of the log is 9, not 7' }];
    refusals = [moved, moved];
    await chat.undo.undo();
    expect(boundaries()).toEqual(['m', 'm', 'm']);
    chat.undo.did(step('n', 7));
    refusals = [moved, moved, moved];
    await chat.undo.undo();
    expect(boundaries().length).toBe(6);
    expect(toasts.list.value.at(-1)?.text).toContain('the head of the log');
    expect(chat.undo.ready.value).toBe(true);
  });

  test('of one step after the other goes further back', async () => {
    const { chat } = fakeChat(server);
    chat.undo.did(step('m1', 2, 'r1'));
    chat.undo.did(step('m2', 5, 'r2'));
    log = ['r1', 'm2', 'r2'].map((own, i) => event(own, { seq: 3 + i }));
    await chat.undo.undo();
    log = [...log, event('undo-1', { seq: 6, author: 'system' })];
    await chat.undo.undo();
    expect(boundaries()).toEqual(['m2', 'm1']);
    expect(chat.undo.ready.value).toBe(false);
  });

  test('happens once, however often its key is pressed', async () => {
    const { chat } = fakeChat(server);
    chat.undo.did(step('m1', 2));
    chat.undo.did(step('m2', 5));
    await Promise.all([chat.undo.undo(), chat.undo.undo()]);
    expect(boundaries()).toEqual(['m2']);
  });
});
