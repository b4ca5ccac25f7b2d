import { signal } from '@preact/signals-core';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Branch, Event, Session } from '../src/api/types';
import type { Sessions } from '../src/store/sessions';
import { Variants } from '../src/store/variants';
import { candidatesOf } from '../src/store/variants-elsewhere';
import { type Answer, type Asked, event, FakeServer, fakeChat, session } from './fakes';
import { log } from './logs';
import { numbers } from './numbers';

let server: FakeServer;
let logs: Map<string, Event[]>;
let root: Branch;
let own: Session;
let refusal: Answer | null;

beforeEach(() => {
  server = new FakeServer();
  logs = new Map();
  root = branch('s1');
  own = session('s1');
  refusal = null;
  server.answer = ({ path, query }: Asked) => {
    const [, , id = '', part] = path.split('/');
    if (part === 'forks') return [200, { data: root }];
    if (part === 'rewind') {
      if (refusal) return refusal;
      const marker = event('marker', { author: 'system', seq: 99 });
      const restored = { state: {}, artifacts: {} };
      return [200, { data: { event: marker, session: own, restored, conflicts: [] } }];
    }
    if (part !== 'events') return [200, { data: own }];
    const entries = logs.get(id);
    if (!entries) return [403, { status: 403, detail: 'Not yours.' }];
    const rest = entries.filter(({ seq }) => seq > Number(query.after));
    const data = rest.slice(0, Number(query.limit));
    return [200, { data, meta: { next_cursor: rest.length > data.length ? 'more' : null } }];
  };
});

function branch(id: string, more: Partial<Branch> = {}): Branch {
  const fork = { rewind_before_invocation_id: null, boundary_found: true, forked_at_seq: 0 };
  return { id, name: id, deleted: false, created_time: 0, children: [], ...fork, ...more };
}

const asked = (part: string) => server.asked.filter(({ path }) => path.endsWith(part));

/** Opens a session that shows some of its log. */
async function open(
  entries: Event[],
  shown: string,
  more: { epoch?: number; fork?: boolean } = {},
) {
  logs.set('s1', entries);
  const fork = { session_id: 'p', rewind_before_invocation_id: null, boundary_found: true };
  own = session('s1', { fork: more.fork ? fork : null, head_seq: entries.length });
  const all = fakeChat(server);
  await vi.waitFor(() => expect(all.chat.session.value).not.toBeNull());
  const show = (words: string, epoch: number, run = {}) => {
    const ids = new Set(words.split(' '));
    const items = entries.filter((e) => ids.has(e.invocation_id) && e.author !== 'system');
    all.show({ items, epoch, ...run });
  };
  show(shown, more.epoch ?? 0);
  const sessions = { list: signal([session('other'), own]) } as unknown as Sessions;
  const deps = { api: server.api, toasts: all.toasts, sessions };
  const variants = new Variants(all.chat, deps);
  const stop = variants.start();
  const said = () =>
    [...variants.groups.value.values()].map((group) =>
      group.variants
        .map((v, i) => (i === group.index ? `[${v.invocation}]` : v.invocation))
        .join(' '),
    );
  return { ...all, show, variants, stop, said };
}

describe('the variants of a chat', () => {
  test('come with one read of the log, and follow its rewinds with one more each', async () => {
    const entries = log('a b <b c');
    const { show, said } = await open(entries, 'a c', { epoch: 1 });
    await vi.waitFor(() => expect(said()).toEqual(['b [c]']));
    expect(asked('/events').length).toBe(1);
    entries.push(...log('<c', 5));
    show('a', 2);
    expect(said()).toEqual(['b [c]']); // until the log is read
    await vi.waitFor(() => expect(said()).toEqual([]));
    entries.push(...log('d', 6));
    show('a d', 2);
    expect(said()).toEqual(['b c [d]']);
    expect(asked('/events').map(({ query }) => query.after)).toEqual(['0', '4']);
    expect(asked('/forks')).toEqual([]);
  });

  test('need no read of the log without rewinds', async () => {
    await open(log('a b'), 'a b');
    expect(asked('/events').length + asked('/forks').length).toBe(0);
  });

  test('are bounded in a long log', async () => {
    const words = Array.from({ length: 3000 }, (_, i) => `t${i}`).join(' ');
    const entries = log(`${words} <t2998 x`);
    const { said } = await open(entries, `${words} x`.replace('t2998 t2999', ''), { epoch: 1 });
    await vi.waitFor(() => expect(said()).toEqual(['t2998 [x]']));
    expect(Number(asked('/events')[0]?.query.after)).toBeGreaterThan(900);
  });

  test('in forks link to them; those without access are left out', async () => {
    const children = ['f', 'g'].map((id, i) =>
      branch(id, { rewind_before_invocation_id: 'b', forked_at_seq: 1, created_time: 5 + i }),
    );
    root = branch('p', { children: [branch('s1', { forked_at_seq: 0, children })] });
    logs.set(
      'f',
      [...log('a'), ...log('x y', 10)].map((e, i) => ({ ...e, seq: i + 1 })),
    );
    const { said, variants } = await open(log('a b'), 'a b', { fork: true });
    await vi.waitFor(() => expect(said()).toEqual(['[b] x']));
    const [group] = [...variants.groups.value.values()];
    expect(group?.variants[1]?.elsewhere).toMatchObject({ session: 'f', invocation: 'x' });
  });
});

describe('switching', () => {
  test('is a rewind that undoes the one that hid the variant last, at the known head', async () => {
    const { variants, chat } = await open(log('a b <b c'), 'a c', { epoch: 1 });
    await vi.waitFor(() => expect(variants.groups.value.size).toBe(1));
    const [b] = variants.groups.value.get('c')?.variants ?? [];
    if (!b) throw new Error('unreachable');
    await Promise.all([variants.show(b, -1), variants.show(b, -1)]);
    expect(asked('/rewind').map(({ body }) => body)).toEqual([
      {
        rewind_before_invocation_id: '<b',
        on_conflict: 'keep',
        dry_run: false,
        cancel_run: false,
        expected_seq: 4,
      },
    ]);
    expect(variants.focus.value).toEqual({ invocation: 'b', step: -1 });
    expect(chat.undo.ready.value).toBe(true);
  });

  test('waits for the answer', async () => {
    const { variants, toasts, show } = await open(log('a b <b c'), 'a c', { epoch: 1 });
    await vi.waitFor(() => expect(variants.groups.value.size).toBe(1));
    show('a c', 1, { status: 'in_progress', run_id: 'c' });
    const [b] = variants.groups.value.get('c')?.variants ?? [];
    if (b) await variants.show(b, -1);
    expect(asked('/rewind')).toEqual([]);
    expect(toasts.list.value[0]?.text).toContain('Wait for the answer');
  });

  test('changes nothing if the chat has gone on, or another tab was first', async () => {
    const entries = log('a b <b c');
    const { variants, toasts, show } = await open(entries, 'a c', { epoch: 1 });
    await vi.waitFor(() => expect(variants.groups.value.size).toBe(1));
    const [b] = variants.groups.value.get('c')?.variants ?? [];
    if (!b) throw new Error('unreachable');
    refusal = [409, { status: 409, detail: 'the head of the log is 5, not 4', head_seq: 5 }];
    await variants.show(b, -1);
    expect(toasts.list.value.map(({ text }) => text)).toEqual([
      'The chat has gone on meanwhile. Nothing was changed.',
    ]);
    expect(variants.focus.value).toBeNull();
    entries.push(...log('<<b', 5)); // the other tab has shown b
    show('a b', 2);
    await vi.waitFor(() => expect(variants.groups.value.get('b')?.index).toBe(0));
    await variants.show(b, -1);
    expect(asked('/rewind').length).toBe(1);
  });

  test('changes nothing if another tab was first, which the watch reports meanwhile', async () => {
    const entries = log('a b <b c');
    const { variants, show } = await open(entries, 'a c', { epoch: 1 });
    await vi.waitFor(() => expect(variants.groups.value.size).toBe(1));
    const [b] = variants.groups.value.get('c')?.variants ?? [];
    if (!b) throw new Error('unreachable');
    const { answer } = server;
    server.answer = (request) => {
      if (request.path.endsWith('/events') && entries.length === 4) {
        entries.push(...log('<<b', 5));
        show('a b', 2);
      }
      return answer(request);
    };
    await variants.show(b, -1);
    expect(asked('/rewind')).toEqual([]);
    expect(variants.focus.value).toBeNull();
  });
});

test('the candidates are the forks at known places, and the sessions above', () => {
  const at = (before: string | null, seq: number, children: Branch[] = []) => ({
    rewind_before_invocation_id: before,
    forked_at_seq: seq,
    created_time: seq,
    children,
  });
  const tree = branch('p', {
    children: [
      branch('q', at('c', 2, [branch('s1', at('d', 3, [branch('child', at(null, 4))]))])),
      branch('sibling of q', at('c', 2)),
      branch('gone', { ...at('c', 2), deleted: true }),
      branch('of all', at(null, 9)),
    ],
  });
  expect(candidatesOf(tree, 's1').map(({ branch: { id }, at: place }) => [id, place])).toEqual([
    ['child', { when: 4 }],
    ['q', { after: 3 }],
    ['sibling of q', { after: 2 }],
    ['p', { after: 2 }],
  ]);
});

// Sessions that fork, ask and rewind, with full copies of all that each has ever shown.
class Model {
  readonly branch: Branch;
  readonly entries: Event[];
  readonly before: string[][];
  shown: string[];
  epoch = 0;

  constructor(branch: Branch, inherited: readonly Event[] = []) {
    this.branch = branch;
    this.entries = inherited.map((entry, i) => ({ ...entry, seq: i + 1 }));
    this.before = this.entries.map((_, i) => this.#invocations(i));
    this.shown = this.#invocations(this.entries.length);
  }

  #invocations(count: number): string[] {
    return this.entries.slice(0, count).map(({ invocation_id }) => invocation_id);
  }

  append(entry: Event, shown: string[]): void {
    this.before.push(this.shown);
    this.entries.push({ ...entry, seq: this.entries.length + 1 });
    this.shown = shown;
  }

  get past(): string[][] {
    return [...this.before, this.shown];
  }

  /** The questions that were ever shown after some others. */
  after(others: readonly string[]): Set<string> {
    const same = this.past.filter((was) => was.slice(0, others.length).join() === others.join());
    return new Set(same.flatMap((was) => was[others.length] ?? []));
  }

  get items(): Event[] {
    return this.entries.filter(
      (e) => e.author !== 'system' && this.shown.includes(e.invocation_id),
    );
  }
}

function grow(random: (below: number) => number): Model[] {
  const models = [new Model(root)];
  for (let time = 1; time <= 40; time++) {
    const model = models[random(models.length)] as Model;
    const boundary = model.entries[random(model.entries.length)]?.invocation_id;
    const at = model.entries.findIndex((e) => e.invocation_id === boundary);
    const common = { created_time: time, seq: 0 };
    const what = random(6);
    if (what === 0 && boundary && models.length < 6) {
      const before = random(4) === 0 ? null : boundary;
      const shown = before === null ? model.shown : (model.before[at] as string[]);
      const inherited = model.entries.filter((e) => shown.includes(e.invocation_id));
      const fork = { forked_at_seq: inherited.length, rewind_before_invocation_id: before };
      const child = branch(`f${time}`, { created_time: time, ...fork });
      model.branch.children.push(child);
      models.push(new Model(child, inherited));
    } else if (what <= 2 && boundary) {
      const actions = { rewind_before_invocation_id: boundary };
      const marker = event(`<${time}`, { ...common, author: 'system', text: 'Rewound', actions });
      model.append(marker, model.before[at] as string[]);
      model.epoch++;
    } else {
      model.append(event(`q${time}`, { ...common, text: 'Why?' }), [...model.shown, `q${time}`]);
    }
  }
  return models;
}

test('the variants among random forks of forks are questions that were asked there', async () => {
  let abroad = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const random = numbers(seed);
    root = branch('s0');
    const models = grow(random);
    logs = new Map(models.map(({ branch: { id }, entries }) => [id, entries]));
    const model = models[random(models.length)] as Model;
    const { id } = model.branch;
    const { chat, show, toasts } = fakeChat(server, id);
    own = session(id, {
      head_seq: model.entries.length,
      fork: { session_id: 'any', rewind_before_invocation_id: null, boundary_found: true },
    });
    show({ items: model.items, epoch: model.epoch });
    await vi.waitFor(() => expect(chat.session.value?.fork).toBeTruthy());
    const variants = new Variants(chat, { api: server.api, toasts, sessions: null });
    await variants.log.refresh();
    await variants.forks.refresh();
    const groups = variants.groups.value;
    model.shown.forEach((question, i) => {
      const others = model.shown.slice(0, i);
      const found = groups.get(question)?.variants ?? [];
      const at = `seed ${seed}: ${question} in ${id}`;
      const mine = found.filter(({ elsewhere }) => !elsewhere).map((v) => v.invocation);
      const want = model.after(others);
      if (found.length > 0 || want.size > 1) expect(new Set(mine), at).toEqual(want);
      for (const { elsewhere, invocation } of found) {
        if (!elsewhere) continue;
        abroad++;
        const there = models.find(({ branch: { id: other } }) => other === elsewhere.session);
        expect(there?.after(others), at).toContain(invocation);
      }
      for (const child of models) {
        const first = child.entries[child.branch.forked_at_seq];
        const there = model.branch.children.includes(child.branch);
        const same = child.before[child.branch.forked_at_seq]?.join() === others.join();
        if (!there || !same || first?.author !== 'user') continue;
        expect(
          found.map((v) => v.invocation),
          at,
        ).toContain(first.invocation_id);
      }
    });
  }
  expect(abroad).toBeGreaterThan(20);
}, 30_000);
