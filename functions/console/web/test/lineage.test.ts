import { describe, expect, test } from 'vitest';
import { shownBefore } from '../src/store/history-lineage';
import { historyRows } from '../src/store/history-rows';
import { Messages } from '../src/store/message';
import { effectOf, eventsBefore } from '../src/store/rewind-effect';
import { groupsOf, markOf } from '../src/store/variants-model';
import { event } from './fakes';
import { log } from './logs';

const idle = { status: 'idle', run: '', error: null } as const;
const seen = (events: readonly { invocation_id: string }[] | null) =>
  events?.map(({ invocation_id }) => invocation_id).join(' ');

describe('what a rewind would show', () => {
  test('is what was shown before the invocation', () => {
    expect(seen(shownBefore(log('a b c'), 'b'))).toBe('a');
  });

  test('for a hidden invocation is what was shown before it', () => {
    expect(seen(shownBefore(log('a b c <b d'), 'c'))).toBe('a b');
  });

  test('for a rewind is what it has hidden', () => {
    expect(seen(shownBefore(log('a b c <b d'), '<b'))).toBe('a b c');
  });

  test('handles rewinds that were undone and that overlap', () => {
    const entries = log('a b <b c <<b d');
    expect(seen(shownBefore(entries, 'd'))).toBe('a b');
    expect(seen(shownBefore(entries, '<<b'))).toBe('a c');
  });

  test('after a discard keeps what its run found', () => {
    const entries = log('r a r <r next');
    const [, , , marker] = entries;
    if (!marker) throw new Error('unreachable');
    marker.actions = { ...marker.actions, rewind_before_seq: 3 };
    expect(seen(shownBefore(entries, 'next'))).toBe('r a');
    const found = groupsOf(entries.map(markOf), true, []);
    expect(found.size).toBe(0);
  });

  test('is unknown for an unknown invocation', () => {
    expect(shownBefore(log('a'), 'b')).toBeNull();
  });

  test('leaves out entries that are not messages', () => {
    const entries = [...log('a'), event('a', { author: 'system', type: 'run' }), ...log('b')];
    expect(seen(shownBefore(entries, 'b'))).toBe('a');
  });
});

describe('the effect of a rewind', () => {
  test('counts the messages hidden and restored', () => {
    const [a, b, c] = log('a b c');
    if (!a || !b || !c) throw new Error('unreachable');
    expect(effectOf([a, b], [a, c])).toMatchObject({ hides: 1, returns: 1 });
    expect(effectOf([a, b, c], eventsBefore([a, b, c], 'b'))).toMatchObject({
      hides: 2,
      returns: 0,
    });
  });

  test('returns the last named version of each artifact', () => {
    const named = (version: number) => event('a', { actions: { artifact_delta: { f: version } } });
    expect(effectOf([], [named(0), named(2)]).artifacts).toEqual(new Map([['f', 2]]));
  });
});

describe('the rows of a log', () => {
  test('mark hidden messages and distinguish rewinds', () => {
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

  test('distinguish a rewind from a discarded answer', () => {
    const [marker] = log('<b');
    const discard = { ...marker, invocation_id: 'discard-run' } as ReturnType<typeof event>;
    const [row] = historyRows([discard], new Set(), new Messages(), idle);
    expect(row?.kind === 'marker' && row.marker.discard).toBe(true);
  });

  test('start a new turn after a rewind', () => {
    const rows = historyRows(log('a <b a'), new Set(), new Messages(), idle);
    const turns = rows.flatMap((row) => (row.kind === 'message' ? row.turn : []));
    expect(turns[0]).not.toBe(turns[1]);
  });
});
