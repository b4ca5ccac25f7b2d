import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Event, InputEvent } from '../src/api/types';
import { type Asked, event, FakeServer, fakeChat, session } from './fakes';

const texts = (events: readonly { content: unknown }[]) =>
  events.map(({ content }) => (content as { parts: { text: string }[] }).parts[0]?.text);

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
  server.answer = startsRun;
});

afterEach(() => {
  vi.useRealTimers();
});

// Responds to a question as the server does: the input is at position 7, its run is `run`.
function startsRun({ path, body }: Asked): [number, unknown] {
  if (path.endsWith('/rewind')) {
    const marker = event('marker', { author: 'system', seq: 6 });
    return [200, { data: { event: marker, session: session('s1'), conflicts: [] } }];
  }
  if (!path.endsWith('/runs')) return [200, { data: session('s1') }];
  const { input } = body as { input: InputEvent[] };
  const items = input.map((given) => ({ ...event('run'), ...given, seq: 7 }));
  const active = session('s1', { status: 'in_progress', active_run_id: 'run' });
  return [
    202,
    {
      data: { session: active, status: 'in_progress', items, cursor: '0.7.0', run: null },
      meta: { next_cursor: null },
    },
  ];
}

const bodies = () => asks().map(({ body }) => body as { input: InputEvent[]; on_active: string });
const asks = () => server.asked.filter(({ path }) => path.endsWith('/runs'));

describe('a question', () => {
  test('is shown at once and until it arrives from the watch', async () => {
    const { chat, show } = fakeChat(server);
    show({ items: [] });
    const sent = chat.send('Why?');
    expect(texts(chat.messages.value.map((m) => m.event))).toEqual(['Why?']);
    expect(chat.sending.value).toBe(true);
    await sent;
    expect([chat.sending.value, chat.running.value]).toEqual([false, true]);
    const id = chat.messages.value[0]?.id;
    show({
      items: [event('run', { id: id ?? '', seq: 7, text: 'Why?' })],
      status: 'in_progress',
      run_id: 'run',
    });
    expect(chat.messages.value.map((m) => m.id)).toEqual([id]);
    expect(chat.running.value).toBe(true);
    expect(chat.started.has('run')).toBe(true);
  });

  test('has an idempotency key and its own id', async () => {
    const { chat } = fakeChat(server);
    await chat.send('Why?');
    expect(asks()[0]?.headers.get('Idempotency-Key')).toMatch(/^[0-9a-f]{32}$/);
    expect(bodies().map(({ on_active }) => on_active)).toEqual(['enqueue']);
  });

  test('is sent once, however often it is submitted', async () => {
    const { chat } = fakeChat(server);
    const sent = await Promise.all([chat.send('Why?'), chat.send('Why?')]);
    expect([sent, asks().length]).toEqual([[true, false], 1]);
  });

  test('is removed when it is rejected, with the reason until it is asked again', async () => {
    const { chat, toasts } = fakeChat(server);
    const { answer } = server;
    server.answer = () => [409, { status: 409, detail: 'a run is active' }];
    expect(await chat.send('Why?')).toBe(false);
    expect(chat.messages.value).toEqual([]);
    expect(chat.trouble.text.value).toBe('a run is active');
    expect(toasts.list.value).toEqual([]);
    server.answer = answer;
    const sent = chat.send('Why?');
    expect(chat.trouble.text.value).toBe('');
    expect(await sent).toBe(true);
  });

  test('is shown as running before the run status arrives from the watch', async () => {
    const { chat, show } = fakeChat(server);
    await chat.send('Why?');
    const asked = event('run', { id: chat.messages.value[0]?.id ?? '', seq: 7, text: 'Why?' });
    show({ items: [asked] });
    expect(chat.running.value).toBe(true);
    const answer = event('run', { author: 'demo', seq: 8, text: 'Bec', status: 'in_progress' });
    show({ items: [asked, answer] });
    expect(chat.running.value).toBe(true);
    show({ items: [asked, answer], status: 'in_progress', run_id: 'run', status_seq: 7 });
    expect(chat.running.value).toBe(true);
    show({ items: [asked, { ...answer, status: 'completed' }], status_seq: 9 });
    expect(chat.running.value).toBe(false);
  });

  test('stops being shown as running if its run is over when the first status arrives', async () => {
    const { chat, show } = fakeChat(server);
    await chat.send('Why?');
    const asked = event('run', { seq: 7, text: 'Why?' });
    show({ items: [asked], status_seq: 6 });
    expect(chat.running.value).toBe(true);
    show({ items: [asked], status_seq: 8 });
    expect(chat.running.value).toBe(false);
  });

  test('that arrives before the response to its request is shown as running at once', async () => {
    const { chat, show } = fakeChat(server);
    let respond = () => {};
    const held = new Promise<void>((resolve) => {
      respond = resolve;
    });
    server.answer = (asked) => held.then(() => startsRun(asked));
    const sent = chat.send('Why?');
    const asked = event('run', { id: chat.messages.value[0]?.id ?? '', seq: 7, text: 'Why?' });
    show({ items: [asked], status_seq: 6 });
    expect([chat.sending.value, chat.state.value.run]).toEqual([true, 'run']);
    show({ items: [asked], status: 'in_progress', run_id: 'run', status_seq: 7 });
    expect(chat.state.value.run).toBe('run');
    show({ items: [asked], status_seq: 9 });
    expect(chat.running.value).toBe(false);
    respond();
    await sent;
    expect([chat.sending.value, chat.running.value]).toEqual([false, false]);
  });

  test('is removed when a rewind has hidden it', async () => {
    const { chat, show } = fakeChat(server);
    await chat.send('Why?');
    show({ items: [], epoch: 1 });
    expect([chat.messages.value, chat.running.value]).toEqual([[], false]);
  });
});

describe('after a failure', () => {
  const failed = (items: Event[]) =>
    ({ items, status: 'failed', run_id: 'old', error: { code: 'c', message: 'm' } }) as const;

  test('a retry sends the same input and hides the failed answer at once', async () => {
    const { chat, show } = fakeChat(server);
    show(failed([event('old', { text: 'Why?' }), event('old', { author: 'demo', text: 'Bec' })]));
    const [turn] = chat.turns.value;
    const sent = turn && chat.revision.regenerate(turn);
    expect(texts(chat.messages.value.map((m) => m.event))).toEqual(['Why?']);
    await sent;
    expect(bodies().map(({ input }) => texts(input))).toEqual([['Why?']]);
  });
});

describe('a run', () => {
  test('is cancelled once', async () => {
    const { chat, show } = fakeChat(server);
    show({ status: 'in_progress', run_id: 'run' });
    await Promise.all([chat.cancel(), chat.cancel()]);
    const asked = server.asked.filter(({ path }) => path === '/sessions/s1/runs/run/cancel');
    expect(asked.map(({ body }) => body)).toEqual([{ on_failed: 'keep' }]);
  });
});

test('a loaded session that is not found any more counts as deleted', () => {
  const { chat, show, end } = fakeChat(server);
  show({ items: [] });
  end(404);
  expect(chat.gone.value).toBe(410);
});

test('a missing session reports its status', () => {
  const { chat, end } = fakeChat(server);
  end(410);
  expect(chat.gone.value).toBe(410);
});

test('a shared session reports why access ended', () => {
  for (const [status, reason, want] of [
    [403, 'revoked', 'revoked'],
    [403, 'expired', 'expired'],
    [403, undefined, 'revoked'],
    [404, undefined, null],
  ] as const) {
    const { chat, show, end } = fakeChat(server);
    show({ items: [] });
    end(status, reason);
    expect(chat.ended.value).toBe(want);
  }
  const { chat, end } = fakeChat(server);
  end(403);
  expect([chat.gone.value, chat.ended.value]).toEqual([403, null]);
});
