import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Event, InputEvent } from '../src/api/types';
import { textOf } from '../src/store/message';
import { type Answer, type Asked, event, FakeServer, fakeChat, session } from './fakes';

let server: FakeServer;
let refused: Record<string, Answer>;

beforeEach(() => {
  server = new FakeServer();
  refused = {};
  server.answer = ({ path, body }: Asked) => {
    const part = path.split('/').at(-1) ?? '';
    const refusal = refused[part];
    if (refusal) return refusal;
    if (part === 'events') return [200, { data: [], meta: { next_cursor: null } }];
    if (part === 'rewind') return [200, { data: rewound }];
    if (part !== 'runs') return [200, { data: session('s1') }];
    const { input } = body as { input: InputEvent[] };
    const items = input.map((given) => ({ ...event('new'), ...given, seq: 12 }));
    const active = session('s1', { status: 'in_progress', active_run_id: 'new', epoch: 1 });
    const thread = { session: active, status: 'in_progress', items, cursor: '', run: null };
    return [202, { data: thread, meta: { next_cursor: null } }];
  };
});

const rewound = {
  event: event('marker', { author: 'system', seq: 11 }),
  session: session('s1', { epoch: 1 }),
  restored: { state: {}, artifacts: {} },
  conflicts: [] as { key: string }[],
};

const did = () => server.asked.filter(({ method }) => method === 'POST');
const paths = () => did().map(({ path }) => path.split('/').at(-1));
const input = () => (did().find(({ path }) => path.endsWith('/runs'))?.body as Body).input;

interface Body {
  input: { content: { parts: unknown[] } }[];
  on_active: string;
}

const file = { inline_data: { mime_type: 'image/png', data: 'AA==', display_name: 'a.png' } };

function talk(): Event[] {
  const parts = [{ text: 'Two?' }, file];
  return [
    event('a', { seq: 1, text: 'One?' }),
    event('a', { seq: 2, author: 'demo', text: 'First.' }),
    event('b', { seq: 4, content: { role: 'user', parts } }),
    event('b', { seq: 5, author: 'demo', text: 'Second.' }),
    event('c', { seq: 7, text: 'Three?' }),
    event('c', { seq: 8, author: 'demo', text: 'Third.' }),
  ];
}

function open(items = talk(), more = {}) {
  const all = fakeChat(server);
  all.show({ items, ...more });
  return all;
}

const turn = (chat: ReturnType<typeof open>['chat'], invocation: string) => {
  const found = chat.turns.value.find((other) => other.invocation === invocation);
  if (!found) throw new Error(`there is no turn ${invocation}`);
  return found;
};

describe('an edited question', () => {
  test('is asked in its place, with its files', async () => {
    const { chat } = open();
    await vi.waitFor(() => expect(chat.rights.value.write).toBe(true));
    expect(chat.edit('b')).toBe(true);
    expect(chat.revision.text.value).toBe('Two?');
    chat.revision.text.value = ' Two, please? ';
    const sent = chat.revision.send();
    expect(chat.messages.value.map(textOf)).toEqual(['One?', 'First.', 'Two, please?']);
    await sent;
    expect(paths()).toEqual(['rewind', 'runs']);
    expect(did()[0]?.body).toMatchObject({ rewind_before_invocation_id: 'b', cancel_run: false });
    expect(input().map(({ content }) => content.parts)).toEqual([[{ text: 'Two, please?' }, file]]);
    expect((did()[1]?.body as Body).on_active).toBe('reject');
    expect([chat.revision.editing.value, chat.draft.value]).toEqual(['', '']);
  });

  test('stays shown until the watch has both the rewind and the question', async () => {
    const { chat, show } = open();
    const [one, first] = talk();
    if (!one || !first) throw new Error('unreachable');
    await chat.revision.regenerate(turn(chat, 'b'));
    const shown = () => chat.messages.value.map(({ invocation }) => invocation);
    expect(shown()).toEqual(['a', 'a', 'new']);
    show({ items: [one, first], epoch: 1 });
    expect(shown()).toEqual(['a', 'a', 'new']);
    const id = (input()[0] as unknown as Event).id;
    show({ items: [one, first, event('new', { id, seq: 12, text: 'Two?' })], epoch: 1 });
    expect(shown()).toEqual(['a', 'a', 'new']);
  });

  test('cancels a run in progress', async () => {
    const { chat } = open(talk(), { status: 'in_progress', run_id: 'c' });
    await chat.revision.regenerate(turn(chat, 'b'));
    expect(did()[0]?.body).toMatchObject({ cancel_run: true });
  });

  test('becomes the draft if it cannot be asked, and the rewind can be undone', async () => {
    const { chat, toasts } = open();
    await vi.waitFor(() => expect(chat.rights.value.write).toBe(true));
    refused.runs = [503, { status: 503, detail: 'No worker is available.' }];
    chat.draft.value = 'half a thought';
    chat.edit('b');
    chat.revision.text.value = 'Two, please?';
    await chat.revision.send();
    expect(chat.draft.value).toBe('Two, please?\n\nhalf a thought');
    expect(chat.trouble.text.value).toBe('No worker is available.');
    expect(toasts.list.value.map(({ text }) => text)).toEqual(['Rewound.']);
    await chat.undo.undo();
    expect(did().at(-1)?.body).toMatchObject({ rewind_before_invocation_id: 'marker' });
    expect(chat.draft.value).toContain('Two, please?');
  });

  test('leaves everything as it is if the rewind is refused', async () => {
    const { chat } = open();
    await vi.waitFor(() => expect(chat.rights.value.write).toBe(true));
    refused.rewind = [409, { status: 409, detail: 'inputs are queued' }];
    chat.edit('b');
    chat.revision.text.value = 'Two, please?';
    await chat.revision.send();
    expect(paths()).toEqual(['rewind']);
    expect(chat.messages.value.length).toBe(6);
    expect([chat.draft.value, chat.undo.ready.value]).toEqual(['Two, please?', false]);
  });

  test('becomes the draft if a rewind elsewhere takes it away', async () => {
    const { chat, show, toasts } = open();
    await vi.waitFor(() => expect(chat.rights.value.write).toBe(true));
    chat.edit('c');
    chat.revision.text.value = 'Three, then?';
    show({ items: talk().slice(0, 2), epoch: 1 });
    expect([chat.revision.editing.value, chat.draft.value]).toEqual(['', 'Three, then?']);
    expect(toasts.list.value.length).toBe(1);
  });

  test('is the newest one by default, and none for a reader', async () => {
    server.answer = () => [200, { data: session('s1', { access: 'read' }) }];
    const reader = open().chat;
    await vi.waitFor(() => expect(reader.rights.value.mine).toBe(false));
    expect(reader.edit()).toBe(false);
    server.answer = () => [200, { data: session('s1') }];
    const { chat } = open();
    await vi.waitFor(() => expect(chat.rights.value.write).toBe(true));
    expect(chat.edit()).toBe(true);
    expect(chat.revision.text.value).toBe('Three?');
  });
});

describe('another answer', () => {
  test('is asked for with the same input, once', async () => {
    const { chat, toasts } = open();
    const c = turn(chat, 'c');
    await Promise.all([chat.revision.regenerate(c), chat.revision.regenerate(c)]);
    expect(paths()).toEqual(['rewind', 'runs']);
    expect(input()).toMatchObject([{ content: { parts: [{ text: 'Three?' }] } }]);
    expect(toasts.list.value.map(({ text }) => text)).toEqual(['Asked again.']);
  });

  test('of a turn that failed takes it away first, which can be undone', async () => {
    const { chat } = open(talk(), { status: 'failed', run_id: 'c' });
    await chat.revision.regenerate(turn(chat, 'c'));
    expect(paths()).toEqual(['rewind', 'runs']);
    expect(did().at(-1)?.body).toMatchObject({ on_failed: 'keep' });
    await chat.undo.undo();
    expect(did().at(-1)?.body).toMatchObject({ rewind_before_invocation_id: 'marker' });
  });

  test('says which shared values stay as other sessions have set them', async () => {
    const { chat, toasts } = open();
    const kept = { ...rewound, conflicts: [{ key: 'user:language' }] };
    const answer = server.answer;
    server.answer = (asked) =>
      asked.path.endsWith('/rewind') ? [200, { data: kept }] : answer(asked);
    await chat.revision.regenerate(turn(chat, 'b'));
    expect(toasts.list.value[0]?.text).toContain('user:language');
  });
});
