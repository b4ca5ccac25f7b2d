import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Event } from '../src/api/types';
import { Rewinding, type RewindTarget } from '../src/store/rewind';
import { type Answer, type Asked, event, FakeServer, fakeChat, session } from './fakes';

const target: RewindTarget = {
  kind: 'rewind',
  from: 'question',
  text: 'Why?',
  before: 'b',
  time: 1,
};

let server: FakeServer;
let refuse: Answer | null;

beforeEach(() => {
  server = new FakeServer();
  refuse = null;
  server.answer = ({ path, body }: Asked) => {
    if (path.endsWith('/events')) return [200, { data: [], meta: { next_cursor: null } }];
    if (!path.endsWith('/rewind')) return [200, { data: session('s1') }];
    const { dry_run, on_conflict } = body as Body;
    if (!dry_run && refuse) return refuse;
    const conflicts = on_conflict === 'keep' ? [{ key: 'user:x' }] : [];
    const restored = { state: { k: 1 }, artifacts: {} };
    return [200, { data: { event: event('marker'), session: session('s1'), restored, conflicts } }];
  };
});

interface Body {
  rewind_before_invocation_id: string;
  dry_run: boolean;
  on_conflict: string;
  cancel_run: boolean;
}

const asks = (dry: boolean) =>
  server.asked.filter(
    ({ path, body }) => path.endsWith('/rewind') && (body as Body).dry_run === dry,
  );
const bodies = (dry: boolean) => asks(dry).map(({ body }) => body as Body);

function begin(more: Partial<RewindTarget> = {}) {
  const { chat, toasts, show } = fakeChat(server);
  const changed = vi.fn();
  const rewinding = new Rewinding({ ...target, ...more }, chat, {
    api: server.api,
    changed,
  });
  return { rewinding, chat, toasts, show, changed };
}

async function begun(more: Partial<RewindTarget> = {}) {
  const all = begin(more);
  const stop = all.rewinding.start();
  await vi.waitFor(() => expect(all.rewinding.preview.value).not.toBeNull());
  return { ...all, stop };
}

describe('a rewind', () => {
  test('is previewed before it is executed', async () => {
    const { rewinding } = await begun();
    expect(bodies(true)).toMatchObject([{ rewind_before_invocation_id: 'b', on_conflict: 'keep' }]);
    expect(rewinding.conflicts.value).toEqual(['user:x']);
    expect(bodies(false)).toEqual([]);
  });

  test('is executed once, with an idempotency key', async () => {
    const { rewinding, changed } = await begun();
    await Promise.all([rewinding.go(), rewinding.go()]);
    expect(asks(false).length).toBe(1);
    expect(asks(false)[0]?.headers.get('Idempotency-Key')).toMatch(/^[0-9a-f]{32}$/);
    expect(changed).toHaveBeenCalledOnce();
  });

  test('keeps its key while the request is the same', async () => {
    const { rewinding } = await begun();
    refuse = [500, { status: 500, detail: 'Internal error.' }];
    await expect(rewinding.go()).rejects.toThrow('Internal error.');
    await expect(rewinding.go()).rejects.toThrow('Internal error.');
    const keys = asks(false).map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys[0]).toBe(keys[1]);
  });

  test('puts the question into the draft, before what is there', async () => {
    const { rewinding, chat, toasts } = await begun();
    chat.draft.value = 'half a thought';
    await rewinding.go();
    expect(chat.draft.value).toBe('Why?\n\nhalf a thought');
    toasts.list.value[0]?.action?.run();
    await vi.waitFor(() => expect(chat.draft.value).toBe('half a thought'));
  });

  test('from an answer leaves the draft as it is', async () => {
    const { rewinding, chat } = await begun({ from: 'answer', text: 'Because.' });
    await rewinding.go();
    expect(chat.draft.value).toBe('');
  });

  test('that is undone leaves a draft that was changed since', async () => {
    const { rewinding, chat, toasts } = await begun();
    await rewinding.go();
    chat.draft.value = 'Why not?';
    toasts.list.value[0]?.action?.run();
    await vi.waitFor(() => expect(toasts.list.value.at(-1)?.text).toBe('Undone.'));
    expect(chat.draft.value).toBe('Why not?');
  });

  test('stops a run in progress', async () => {
    const { rewinding, show } = await begun();
    show({ status: 'in_progress', run_id: 'run' });
    expect(rewinding.stops.value).toBe(true);
    await vi.waitFor(() => expect(rewinding.preview.value).not.toBeNull());
    await rewinding.go();
    expect(bodies(false)).toMatchObject([{ cancel_run: true }]);
  });

  test('is previewed again after a conflict', async () => {
    const { rewinding } = await begun();
    refuse = [409, { status: 409, detail: 'a run is in progress' }];
    await expect(rewinding.go()).rejects.toThrow('a run is in progress');
    await vi.waitFor(() => expect(bodies(true).length).toBe(2));
  });

  test('is previewed again when the session changes', async () => {
    const { show, stop } = await begun();
    show({ items: [event('c') as Event] });
    expect(bodies(true).length).toBe(1);
    await vi.waitFor(() => expect(bodies(true).length).toBe(2));
    stop();
  });

  test('restores shared values on request', async () => {
    const { rewinding } = await begun();
    rewinding.choice.value = 'restore';
    await vi.waitFor(() => expect(rewinding.preview.value).not.toBeNull());
    expect(rewinding.conflicts.value).toEqual(['user:x']); // still to choose from
    await rewinding.go();
    expect(bodies(false)).toMatchObject([{ on_conflict: 'restore' }]);
  });

  test('can be undone by a rewind to before it', async () => {
    const { rewinding, chat, toasts } = await begun();
    await rewinding.go();
    toasts.list.value[0]?.action?.run();
    await vi.waitFor(() => expect(bodies(false).length).toBe(2));
    expect(bodies(false)[1]?.rewind_before_invocation_id).toBe('marker');
    await vi.waitFor(() => expect(chat.draft.value).toBe(''));
  });

  test('reports why its preview failed', async () => {
    server.answer = () => [404, { status: 404, detail: 'Invocation not found.' }];
    const { rewinding } = begin();
    await rewinding.loadPreview();
    expect([rewinding.failed.value, rewinding.preview.value]).toEqual([
      'Invocation not found.',
      null,
    ]);
  });
});
