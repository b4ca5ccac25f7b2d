// Counts renders.

import { options, type VNode } from 'preact';

type Hooks = { __r?: (vnode: VNode) => void };

/** Counts the components that are rendered, by name, until `stop` is called. */
export function count() {
  const hooks = options as Hooks;
  const { __r: before } = hooks;
  const counts = new Map<string, number>();
  hooks.__r = (vnode) => {
    const { type } = vnode;
    const name = typeof type === 'function' ? type.displayName || type.name || 'unnamed' : '';
    if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
    before?.(vnode);
  };
  const stop = () => {
    hooks.__r = before;
  };
  return { counts, stop };
}
