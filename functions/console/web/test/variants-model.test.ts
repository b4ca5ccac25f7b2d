import { describe, expect, test } from 'vitest';
import type { Event } from '../src/api/types';
import {
  type Elsewhere,
  type Group,
  groupsOf,
  type Mark,
  markOf,
} from '../src/store/variants-model';
import { event } from './fakes';
import { log } from './logs';
import { numbers } from './numbers';

const groups = (entries: readonly Event[], elsewhere: Elsewhere[] = [], whole = true) =>
  groupsOf(entries.map(markOf), whole, elsewhere);

/** The groups as text: `b: b [d]` is the question d, which is shown, as the second of two variants. */
function said(found: Map<string, Group>): string[] {
  return [...found.values()].map(({ variants, index }) =>
    variants.map((v, i) => (i === index ? `[${v.invocation}]` : v.invocation)).join(' '),
  );
}

const hiders = (found: Map<string, Group>, question: string) =>
  found.get(question)?.variants.map(({ hiddenBy }) => hiddenBy);

function other(session: string, invocation: string, at: Elsewhere['at'], time = 1000): Elsewhere {
  return { session, name: session, invocation, time, at };
}

describe('the variants of a question', () => {
  test('are the questions asked in its place', () => {
    expect(said(groups(log('a b c')))).toEqual([]);
    const found = groups(log('a b c <b d'));
    expect(said(found)).toEqual(['b [d]']);
    expect(hiders(found, 'd')).toEqual(['<b', '']);
  });

  test('of the first question are in place of it', () => {
    expect(said(groups(log('a b <a c')))).toEqual(['a [c]']);
  });

  test('are shown with what followed them last', () => {
    // b is hidden, shown again and continued with c, and hidden again with it
    const found = groups(log('a b <b x <<b c <x y'));
    expect(said(found)).toEqual(['b x [y]']);
    expect(hiders(found, 'y')).toEqual(['<x', '<<b', '']);
  });

  test('nest: a variant within the second of two', () => {
    const found = groups(log('a b c <c d <b e f <f g h <h i'));
    expect(said(found)).toEqual(['b [e]', 'f [g]', 'h [i]']);
    const back = groups(log('a b c <c d <b e f <f g <<b'));
    expect(said(back)).toEqual(['[b] e', 'c [d]']);
    expect(hiders(back, 'b')).toEqual(['<b', '<<b']);
  });

  test('include those that a rewind of a rewind brings back', () => {
    const found = groups(log('a b <b c <<b d'));
    expect(said(found)).toEqual(['[b] c']);
    expect(hiders(found, 'b')).toEqual(['<b', '<<b']);
  });

  test('include those that were hidden when the session was rewound to before them', () => {
    const found = groups(log('a b c <b d <c e'));
    expect(said(found)).toEqual(['[b] d', 'c [e]']);
  });

  test('leave out what the server discarded without an answer', () => {
    const discard = event('discard-b', {
      author: 'system',
      seq: 50,
      created_time: 50,
      actions: { rewind_before_invocation_id: 'b' },
    });
    const tail = log('c', 51);
    expect(said(groups([...log('a b'), discard, ...tail]))).toEqual([]);
    const failed = event('b', {
      author: 'demo',
      seq: 3,
      status: 'failed',
      error: { code: 'x', message: 'y' },
    });
    const undone = [failed, ...log('<b', 50), ...tail]; // asked again
    expect(said(groups([...log('a b'), ...undone]))).toEqual([]);
    const answer = event('b', { author: 'demo', seq: 3, created_time: 3, text: 'Well' });
    expect(said(groups([...log('a b'), answer, discard, ...tail]))).toEqual(['b [c]']);
  });

  test('stand after the same question, whatever else came between', () => {
    const file = event('u', { seq: 2, created_time: 2, actions: { artifact_delta: { f: 0 } } });
    const found = groups([...log('a'), file, ...log('b <b c <u d', 3)]);
    expect(said(found)).toEqual(['b c [d]']);
  });

  test('are unknown for a question whose place is not loaded', () => {
    const entries = log('z a b <b c <a d').slice(1);
    expect(said(groups(entries, [], false))).toEqual([]);
    const later = log('z a b c <c d').slice(1);
    expect(said(groups(later, [], false))).toEqual(['c [d]']);
    expect(said(groups(log('y z a b <y c d <d e').slice(2), [], false))).toEqual(['d [e]']);
  });
});

describe('the variants in other sessions', () => {
  test('are placed by the boundary of the fork', () => {
    const found = groups(log('a b c'), [other('f', 'x', { before: 'b' })]);
    expect(said(found)).toEqual(['[b] x']);
    expect(found.get('b')?.variants[1]?.elsewhere?.session).toBe('f');
  });

  test('of a fork of all stand where the session ended then', () => {
    const found = groups(log('a b c'), [other('f', 'x', { when: 2 })]);
    expect(said(found)).toEqual(['[c] x']);
  });

  test('of the origin of a fork stand where its own part begins', () => {
    const found = groups(log('a b x y'), [other('s', 'c', { after: 2 }, 2.5)]);
    expect(said(found)).toEqual(['c [x]']);
  });

  test('join those that a rewind has hidden, in the order of their times', () => {
    const found = groups(log('a b <b c'), [other('f', 'x', { before: 'b' }, 3.5)]);
    expect(said(found)).toEqual(['b x [c]']);
  });

  test('that several sessions have inherited count once, and unknown places not at all', () => {
    const twice = [other('f', 'x', { before: 'b' }), other('g', 'x', { before: 'b' })];
    expect(said(groups(log('a b'), twice))).toEqual(['[b] x']);
    expect(said(groups(log('a b'), [other('f', 'x', { before: 'nowhere' })]))).toEqual([]);
  });
});

// A simple model: full copies of what was shown before each entry of the log.
class Model {
  readonly entries: string[] = [];
  readonly shownBefore: string[][] = [];
  shown: string[] = [];

  ask(invocation: string): void {
    this.#append(invocation);
    this.shown = [...this.shown, invocation];
  }

  rewind(before: string, marker: string): void {
    const back = this.shownBefore[this.entries.indexOf(before)];
    if (!back) throw new Error(`${before} is unknown`);
    this.#append(marker);
    this.shown = back;
  }

  #append(invocation: string): void {
    this.entries.push(invocation);
    this.shownBefore.push(this.shown);
  }

  /** Everything that was ever shown, in order. */
  get past(): string[][] {
    return [...this.shownBefore, this.shown];
  }

  variants(at: number): string[] {
    const before = this.shown.slice(0, at).join(' ');
    const same = this.past.filter((was) => was[at] && was.slice(0, at).join(' ') === before);
    return [...new Set(same.map((was) => was[at] as string))];
  }

  /** What was shown with a variant last. */
  last(at: number, variant: string): string[] | undefined {
    const before = [...this.shown.slice(0, at), variant].join(' ');
    return this.past.findLast((was) => was.slice(0, at + 1).join(' ') === before);
  }
}

test('the variants of random logs are those of a model that keeps everything', () => {
  let most = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const random = numbers(seed);
    const model = new Model();
    const marks: Mark[] = [];
    for (let i = 1; i <= 30; i++) {
      const mark = { seq: i, invocation_id: `i${i}`, time: i, boundary: undefined };
      const before = random(3) === 0 && model.entries[random(model.entries.length)];
      if (before) {
        model.rewind(before, mark.invocation_id);
        marks.push({ ...mark, boundary: before, kind: 'other' });
      } else {
        model.ask(mark.invocation_id);
        marks.push({ ...mark, kind: 'question' });
      }
      const found = groupsOf(marks, true, []);
      model.shown.forEach((question, at) => {
        const group = found.get(question);
        const want = model.variants(at);
        most = Math.max(most, want.length);
        expect(group?.variants.map((v) => v.invocation) ?? [question], `seed ${seed}`).toEqual(
          want,
        );
        for (const { invocation, hiddenBy } of group?.variants ?? []) {
          if (invocation === question) continue;
          const then = model.shownBefore[model.entries.indexOf(hiddenBy)];
          expect(then, `seed ${seed}: ${invocation}`).toEqual(model.last(at, invocation));
        }
      });
    }
  }
  expect(most).toBeGreaterThan(4);
}, 30_000);
