// What differs between two JSON values: member by member, as deep as both are objects.

import { isObject } from './values';

export interface Difference {
  /** The members that lead to it; empty if the values themselves differ. */
  path: readonly string[];
  /** Undefined where there is none. */
  before: unknown;
  after: unknown;
}

export function differences(
  before: unknown,
  after: unknown,
  path: readonly string[] = [],
): Difference[] {
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => differences(before[name], after[name], [...path, name]));
  }
  return isSame(before, after) ? [] : [{ path, before, after }];
}

function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === other.length && one.every((v, i) => differences(v, other[i]).length === 0);
}
