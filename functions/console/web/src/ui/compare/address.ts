// The address of two branches beside each other.

import type { Branch } from '../../store/compare/branch';

/** Its path, below the console's. */
export const COMPARE = '/compare';

export function comparePath(left: Branch, right: Branch | null): string {
  const params = new URLSearchParams();
  for (const [side, branch] of [
    ['left', left],
    ['right', right],
  ] as const) {
    if (branch) params.set(side, branch.session);
    if (branch?.before) params.set(`${side}_before`, branch.before);
  }
  return `${COMPARE}?${params}`;
}

/** The branch of a side; null if the address names none. */
export function branchIn(params: URLSearchParams, side: 'left' | 'right'): Branch | null {
  const session = params.get(side);
  return session ? { session, before: params.get(`${side}_before`) ?? '' } : null;
}
