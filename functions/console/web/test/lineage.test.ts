import { describe, expect, test } from 'vitest';
import { shownBefore } from '../src/store/history-lineage';
import { historyRows } from '../src/store/history-rows';
import { Messages } from '../src/store/message';
import { effectOf, eventsBefore } from '../src/store/rewind-effect';
import { event } from './fakes';
import { log } from './logs';

const idle = { status: 'idle', run: '', error: null } as const;
const seen = (events: readonly { invocation_id: string }[] | null) =>
  events?.map(({ invocation_id }) => invocation_id).join(' ');

describe('what a rewind would show', () => {
  test('is what stood before the invocation', () => {
    expect(seen(shownBefore(log('a b c'), 'b'))).toBe('a');
  });

  test('before a hidden invocation is what stood before that', () => {
    expect(seen(shownBefore(log('a b c <b d'), 'c'))).toBe('a b');
  });

  test('before a rewind is what that has hidden', () => {
    expect(seen(shownBefore(log('a b c <b d'), '<b'))).toBe('a b c');
  });

  test('counts rewinds that were undone, and those that cross', () => {
    const entries = log('a b <b c <<b d');
    expect(seen(shownBefore(entries, 'd'))).toBe('a b');
    expect(seen(shownBefore(entries, '<<b'))).toBe('a c');
  });

  test('before an invocation that is not there is unknown', () => {
    expect(shownBefore(log('a'), 'b')).toBeNull();
  });

  test('leaves out entries that show nothing', () => {
    const entries = [...log('a'), event('a', { author: 'system', type: 'run' }), ...log('b')];
    expect(seen(shownBefore(entries, 'b'))).toBe('a');
  });
});

describe('the effect of a rewind', () => {
  test('counts the messages that go and come back', () => {
    const [a, b, c] = log('a b c');
    if (!a || !b || !c) throw new Error('unreachable');
    expect(effectOf([a, b], [a, c])).toMatchObject({ hides: 1, returns: 1 });
    expect(effectOf([a, b, c], eventsBefore([a, b, c], 'b'))).toMatchObject({
      hides: 2,
      returns: 0,
    });
  });

  test('knows the version of each artifact that is named then', () => {
    const named = (version: number) => event('a', { actions: { artifact_delta: { f: version } } });
    expect(effectOf([], [named(0), named(2)]).artifacts).toEqual(new Map([['f', 2]]));
  });
});

describe('the rows of a log', () => {
  test('mark what is hidden, and tell rewinds apart', () => {
    const entries = log('a b <b c');
    const shown = new Set(entries.flatMap((e) => (/[ac]/.test(e.invocation_id) ? e.id : [])));
    const rows = historyRows(entries, shown, new Messages(), idle);
    expect(rows.map((r) => (r.kind === 'message' ? r.hidden : r.marker.invocation))).toEqual([
      false,
      true,
      '<b',
      false,
    ]);
  });

  test('tell a rewind from an answer that was put aside', () => {
    const [marker] = log('<b');
    const discard = { ...marker, invocation_id: 'discard-run' } as ReturnType<typeof event>;
    const [row] = historyRows([discard], new Set(), new Messages(), idle);
    expect(row?.kind === 'marker' && row.marker.discard).toBe(true);
  });

  test('begin a turn anew behind a rewind', () => {
    const rows = historyRows(log('a <b a'), new Set(), new Messages(), idle);
    const turns = rows.flatMap((row) => (row.kind === 'message' ? row.turn : []));
    expect(turns[0]).not.toBe(turns[1]);
  });
});
