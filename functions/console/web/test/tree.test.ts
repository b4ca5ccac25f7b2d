import { describe, expect, test } from 'vitest';
import type { Branch, Event } from '../src/api/types';
import { layoutOf, moreKey, type TreeLayout } from '../src/store/tree-layout';
import { type TreeNode, treeOf } from '../src/store/tree-model';
import { pathOf } from '../src/ui/panel/tree-lines';
import { log } from './logs';

function branch(id: string, more: Partial<Branch> = {}): Branch {
  return {
    id,
    name: id,
    deleted: false,
    rewind_before_invocation_id: null,
    boundary_found: true,
    forked_at_seq: 0,
    created_time: 0,
    children: [],
    ...more,
  };
}

const logs = (all: Record<string, Event[]>) => new Map(Object.entries(all));
const name = (node: TreeNode | null) => node && (node.invocation || node.session);
const follows = (nodes: TreeNode[]) => nodes.map((n) => `${name(n.parent)}→${name(n)}`);
const columns = ({ rows }: TreeLayout) => rows.map(({ node, column }) => `${name(node)}:${column}`);

describe('the tree', () => {
  test('of a session without rewinds is a line', () => {
    const tree = treeOf(branch('s'), logs({ s: log('a b') }), 's');
    expect(follows(tree.nodes)).toEqual(['null→s', 's→a', 'a→b']);
    expect(name(tree.current)).toBe('b');
    expect(columns(layoutOf(tree, new Set()))).toEqual(['s:0', 'a:0', 'b:0']);
  });

  test('combines the entries of an invocation into one turn', () => {
    const tree = treeOf(branch('s'), logs({ s: log('a a b') }), 's');
    expect(tree.nodes.length).toBe(3);
  });

  test('branches at the boundary of a rewind', () => {
    const tree = treeOf(branch('s'), logs({ s: log('a b c <b d') }), 's');
    expect(follows(tree.nodes)).toEqual(['null→s', 's→a', 'a→b', 'b→c', 'c→<b', 'a→d']);
    const hidden = tree.nodes.filter(({ kind, shown }) => kind === 'turn' && !shown);
    expect(hidden.map(name)).toEqual(['b', 'c']);
    const layout = layoutOf(tree, new Set());
    expect(columns(layout)).toEqual(['s:0', 'a:0', 'b:1', 'c:1', '<b:1', 'd:0']);
    const back = layout.lines.find(({ kind }) => kind === 'rewind');
    expect([back?.from, back?.to]).toEqual([
      { row: 4, column: 1 },
      { row: 4.5, column: 0 },
    ]);
  });

  test('ends at a rewind without later turns', () => {
    const tree = treeOf(branch('s'), logs({ s: log('a b <b') }), 's');
    expect(name(tree.current)).toBe('a');
    const layout = layoutOf(tree, new Set());
    expect(columns(layout)).toEqual(['s:0', 'a:0', 'b:1', '<b:1']);
    expect(layout.lines).toContainEqual({
      kind: 'branch',
      from: { row: 1, column: 0 },
      to: { row: 3.5, column: 0 },
      shown: true,
      path: true,
    });
  });

  test('detects a rewind that undoes another', () => {
    const tree = treeOf(branch('s'), logs({ s: log('a b <b c <<b d') }), 's');
    expect(follows(tree.nodes).at(-1)).toBe('b→d');
    expect(tree.nodes.filter(({ undoes }) => undoes).map(name)).toEqual(['<<b']);
    expect(tree.nodes.filter(({ returns }) => returns).map(name)).toEqual(['<<b']);
    expect([...tree.path].map(name).sort()).toEqual(['a', 'b', 'd', 's']);
  });

  test('shows a fork beside the rest of its origin', () => {
    const child = branch('f', {
      rewind_before_invocation_id: 'b',
      forked_at_seq: 1,
      created_time: 3,
    });
    const root = branch('s', { children: [child] });
    const tree = treeOf(root, logs({ s: log('a b'), f: log('x y', 4) }), 'f');
    expect(follows(tree.nodes)).toEqual(['null→s', 's→a', 'a→b', 'a→f', 'f→x', 'x→y']);
    expect([...tree.path].map(name).reverse()).toEqual(['s', 'a', 'f', 'x', 'y']);
    const shown = columns(layoutOf(tree, new Set()));
    expect(shown).toEqual(['s:0', 'a:0', 'b:1', 'f:0', 'x:0', 'y:0']);
    const origin = treeOf(root, logs({ s: log('a b'), f: log('x y', 4) }), 's');
    const around = columns(layoutOf(origin, new Set()));
    expect(around).toEqual(['s:0', 'a:0', 'f:1', 'x:1', 'y:1', 'b:0']);
  });

  test('attaches a fork of everything to the tip at its creation', () => {
    const child = branch('f', { created_time: 2.5 });
    const tree = treeOf(branch('s', { children: [child] }), logs({ s: log('a b c') }), 's');
    expect(follows(tree.nodes)).toContain('b→f');
  });

  test('finds the boundary of a fork of a fork in inherited turns', () => {
    const grandchild = branch('g', { rewind_before_invocation_id: 'b', created_time: 9 });
    const child = branch('f', { created_time: 5, children: [grandchild] });
    const all = logs({ s: log('a b'), f: log('x <b y', 6) });
    const tree = treeOf(branch('s', { children: [child] }), all, 'f');
    expect(follows(tree.nodes)).toContain('a→g');
    expect(follows(tree.nodes)).toContain('a→y'); // the fork itself was rewound to before it
  });

  test('keeps a deleted session in its place', () => {
    const child = branch('f', { created_time: 5 });
    const root = branch('s', { deleted: true, children: [child] });
    const tree = treeOf(root, logs({ f: log('x', 6) }), 'f');
    expect(follows(tree.nodes)).toEqual(['null→s', 's→f', 'f→x']);
  });
});

describe('its layout', () => {
  const words = Array.from({ length: 20 }, (_, i) => `t${i}`).join(' ');

  test('folds long straight runs until they are unfolded', () => {
    const tree = treeOf(branch('s'), logs({ s: log(words) }), 's');
    const layout = layoutOf(tree, new Set());
    const fold = layout.rows.find(({ folded }) => folded > 0);
    const counted = layout.rows.reduce((sum, { folded }) => sum + Math.max(1, folded), 0);
    expect([layout.rows.length < 10, counted]).toEqual([true, 21]);
    expect(layoutOf(tree, new Set([fold?.node.key ?? ''])).rows.length).toBe(21);
  });

  test('never places two branches at the same position', () => {
    const tree = treeOf(branch('s'), logs({ s: log('a b <b c d <c e <a f <<a g') }), 's');
    const { rows } = layoutOf(tree, new Set());
    expect(new Set(rows.map(({ node }) => node.key)).size).toBe(tree.nodes.length);
    expect(rows.length).toBe(tree.nodes.length);
    for (const { node, column } of rows) {
      if (node.kind === 'turn' && !node.shown) expect(column).toBeGreaterThan(0);
    }
  });

  test('reuses columns that are free again', () => {
    const tree = treeOf(branch('s'), logs({ s: log('a b <b c d <d e') }), 's');
    expect(layoutOf(tree, new Set()).columns).toBe(2);
  });
});

describe('a large tree', () => {
  const times = Array.from({ length: 100 }, (_, i) => 10 + i);
  const forks = times.map((time, i) =>
    branch(`f${i}`, { rewind_before_invocation_id: 'b', created_time: time }),
  );
  const all = logs({
    s: log('a b c'),
    ...Object.fromEntries(times.map((time, i) => [`f${i}`, log(`x${i} y${i}`, time)])),
  });
  const tree = treeOf(branch('s', { children: forks }), all, 's');
  const [, a] = tree.nodes;
  const more = a ? moreKey(a) : '';

  test('folds its branches, of many the older ones together', () => {
    const { rows, columns: width } = layoutOf(tree, new Set());
    expect(rows.map(({ node, kind, folded }) => `${kind} ${name(node)} ${folded}`)).toEqual([
      'node s 0',
      'node a 0',
      'more a 92',
      ...Array.from({ length: 8 }, (_, i) => `node f${92 + i} 2`),
      'node b 0',
      'node c 0',
    ]);
    expect(width).toBe(2);
  });

  test('uses one column for all branches of a turn, unfolded or not', () => {
    const shown = layoutOf(tree, new Set([more, 'f7', 'f8']));
    expect(shown.columns).toBe(2);
    expect(shown.rows.length).toBe(tree.nodes.length - 98 * 2);
    expect(shown.rows.filter(({ open }) => open).map(({ node }) => name(node))).toEqual([
      'f7',
      'f8',
    ]);
  });

  test('keeps the path to a branch straight and unfolded', () => {
    const open = treeOf(branch('s', { children: forks }), all, 'f42');
    const { rows } = layoutOf(open, new Set());
    const path = rows.filter(({ node, kind }) => kind === 'node' && open.path.has(node));
    expect(path.map(({ node, column }) => `${name(node)}:${column}`)).toEqual([
      's:0',
      'a:0',
      'f42:0',
      'x42:0',
      'y42:0',
    ]);
    expect(rows.at(-1)?.node).toBe(open.current);
  });

  test('is as narrow if each fork forks again', () => {
    const deep = times.reduceRight<Branch[]>((children, time, i) => {
      return [branch(`f${i}`, { created_time: time, children })];
    }, []);
    const chain = treeOf(branch('s', { children: deep }), all, 'f99');
    expect(layoutOf(chain, new Set()).columns).toBe(1);
    const back = treeOf(branch('s', { children: deep }), all, 's');
    expect(layoutOf(back, new Set()).columns).toBe(2);
  });
});

test('no line of a tree crosses a row that it does not belong to', () => {
  const tree = treeOf(branch('s'), logs({ s: log('a b <b c d <c e <a f <<a g') }), 's');
  const { rows, lines } = layoutOf(tree, new Set());
  for (const { kind, from, to } of lines) {
    if (kind !== 'branch') continue;
    const between = rows.slice(from.row + 1, Math.ceil(to.row));
    expect(between.filter(({ column }) => column === from.column)).toEqual([]);
  }
});

test('a line goes down first and ends at its target', () => {
  const line = (to: { row: number; column: number }) =>
    pathOf({ kind: 'branch', from: { row: 0, column: 0 }, to, shown: true, path: true });
  expect(line({ row: 2, column: 0 })).toBe('M12 18V90');
  expect(line({ row: 2, column: 1 })).toBe('M12 18V80Q12 90 26 90');
  expect(line({ row: 0.5, column: 1 })).toBe('M12 18V26Q12 36 26 36');
});
