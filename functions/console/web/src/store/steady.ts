// Turns and rows that stay the same objects while they are the same, so that a growing answer renders
// its own row alone.

import { type Row, rowsOf, type Turn } from './turns';

export class Steady {
  #turns: readonly Turn[] = [];
  #rows: readonly Row[] = [];
  #layout: readonly Row[] = [];

  /** The turns, each the same object as before if its messages and outcome are. */
  turns(now: readonly Turn[]): readonly Turn[] {
    this.#turns = kept(this.#turns, now, ({ messages }) => messages[0]?.id ?? '', isSameTurn);
    return this.#turns;
  }

  /** The rows, each the same object as before if it is shown in the same way. */
  rows(turns: readonly Turn[]): readonly Row[] {
    this.#rows = kept(this.#rows, rowsOf(turns), ({ key }) => key, isSameRow);
    return this.#rows;
  }

  /** Which rows there are; their contents may be older. */
  layout(rows: readonly Row[]): readonly Row[] {
    const before = this.#layout;
    const same = rows.length === before.length && rows.every((row, i) => isAt(row, before[i]));
    if (!same) this.#layout = rows;
    return this.#layout;
  }
}

function kept<T>(
  before: readonly T[],
  now: readonly T[],
  key: (one: T) => string,
  same: (a: T, b: T) => boolean,
): readonly T[] {
  const known = new Map(before.map((one) => [key(one), one]));
  const list = now.map((one) => {
    const was = known.get(key(one));
    return was !== undefined && same(was, one) ? was : one;
  });
  return list.length === before.length && list.every((one, i) => one === before[i]) ? before : list;
}

const isSameTurn = (a: Turn, b: Turn) =>
  isAlike(a, b) && a.messages.every((message, i) => message === b.messages[i]);

/** Whether turns differ at most in what is still being written. */
const isAlike = (a: Turn, b: Turn): boolean =>
  a.invocation === b.invocation &&
  a.outcome === b.outcome &&
  a.error === b.error &&
  a.first === b.first &&
  a.cut === b.cut &&
  a.messages.length === b.messages.length &&
  a.messages.every((message, i) => {
    const other = b.messages[i];
    return message === other || (message.streaming && other?.streaming && message.id === other.id);
  });

function isSameRow(a: Row, b: Row): boolean {
  if (a.kind !== b.kind || !isAlike(a.turn, b.turn)) return false;
  if (a.kind !== 'message' || b.kind !== 'message') return true;
  return a.message === b.message && a.last === b.last;
}

const isAt = (row: Row, before: Row | undefined): boolean =>
  row.key === before?.key && row.turn.invocation === before.turn.invocation;
