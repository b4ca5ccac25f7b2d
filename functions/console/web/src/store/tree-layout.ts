// Lays out a tree: a row for each node, ordered by time, and a column for each branch. Long straight
// runs of turns are folded.

import type { TreeModel, TreeNode } from './tree-model';

export interface TreeRow {
  node: TreeNode;
  column: number;
  /** Number of turns folded into the row, otherwise 0. */
  folded: number;
}

/** A line from a row and column to another. */
export interface TreeLine {
  kind: 'branch' | 'rewind';
  from: { row: number; column: number };
  to: { row: number; column: number };
  /** Whether its end is shown by its session. */
  shown: boolean;
  /** Whether it is on the path to the current position of the open session. */
  path: boolean;
}

export interface TreeLayout {
  rows: TreeRow[];
  lines: TreeLine[];
  columns: number;
}

/** Consecutive nodes in one column. */
interface Strand {
  nodes: TreeNode[];
  column: number;
  last: number; // row
}

/** @param unfolded keys of the first nodes of unfolded runs */
export function layoutOf(model: TreeModel, unfolded: ReadonlySet<string>): TreeLayout {
  const order = inOrder(model.nodes);
  const strandOf = strandsOf(order);
  const rows = fold(order, strandOf, model.current, unfolded);
  const rowOf = new Map<TreeNode, number>();
  let row = -1;
  const starts = new Set(rows.map(({ node }) => node));
  for (const node of order) rowOf.set(node, starts.has(node) ? ++row : row);

  const at = (node: TreeNode) => rowOf.get(node) ?? 0;
  const columns = place(order, strandOf, at);
  const column = (node: TreeNode) => strandOf.get(node)?.column ?? 0;
  const lines = order.flatMap((node) => linesTo(node, at, column, model));
  return { rows: rows.map((r) => ({ ...r, column: column(r.node) })), lines, columns };
}

// Orders nodes by time, never before their parents.
function inOrder(nodes: readonly TreeNode[]): TreeNode[] {
  const times = new Map<TreeNode, number>();
  for (const node of nodes) {
    const earliest = node.parent ? (times.get(node.parent) ?? 0) : 0;
    times.set(node, Math.max(node.time, earliest));
  }
  return nodes.toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0));
}

// A node continues its parent's column if its session continued with it; shown nodes take precedence.
function strandsOf(order: readonly TreeNode[]): Map<TreeNode, Strand> {
  const strands = new Map<TreeNode, Strand>();
  for (const node of order) {
    const { parent } = node;
    const known = parent && strands.get(parent);
    const strand =
      parent && known && (node.kind === 'rewind' || node === heirOf(parent))
        ? known
        : { nodes: [], column: 0, last: 0 };
    strand.nodes.push(node);
    strands.set(node, strand);
  }
  return strands;
}

function heirOf(node: TreeNode): TreeNode | undefined {
  const own = node.children.filter(
    ({ kind, session }) => kind === 'turn' && session === node.session,
  );
  return own.find(({ shown }) => shown) ?? (node.shown ? undefined : own.at(-1));
}

const MAX_STRAIGHT = 8; // turns; in longer runs the middle is folded
const KEPT = 3; // turns at each end

function fold(
  order: readonly TreeNode[],
  strandOf: ReadonlyMap<TreeNode, Strand>,
  current: TreeNode | null,
  unfolded: ReadonlySet<string>,
): Omit<TreeRow, 'column'>[] {
  const rows: Omit<TreeRow, 'column'>[] = [];
  let straight: TreeNode[] = [];
  const flush = () => {
    const middle = straight.length > MAX_STRAIGHT ? straight.slice(KEPT, -KEPT) : [];
    const [first] = middle;
    if (first && !unfolded.has(first.key)) {
      const head = straight.slice(0, KEPT).map(single);
      rows.push(...head, { node: first, folded: middle.length });
      rows.push(...straight.slice(-KEPT).map(single));
    } else {
      rows.push(...straight.map(single));
    }
    straight = [];
  };
  for (const node of order) {
    const before = straight.at(-1);
    const goesOn = before && node.parent === before && strandOf.get(node) === strandOf.get(before);
    if (!goesOn) flush();
    const plain = node.kind === 'turn' && node.children.length === 1 && node !== current;
    straight.push(node);
    if (!plain) flush();
  }
  flush();
  return rows;
}

const single = (node: TreeNode) => ({ node, folded: 0 });

// Assigns each strand the leftmost column that is free from its parent to its end.
function place(
  order: readonly TreeNode[],
  strandOf: ReadonlyMap<TreeNode, Strand>,
  at: (node: TreeNode) => number,
): number {
  const strands = [...new Set(order.flatMap((node) => strandOf.get(node) ?? []))];
  for (const strand of strands) strand.last = Math.max(...strand.nodes.map(at));
  for (const node of order) {
    const target = node.kind === 'rewind' && strandOf.get(landing(node));
    if (target) target.last = Math.max(target.last, at(node) + 1);
  }
  const taken: { from: number; to: number }[][] = [];
  for (const { first, strand } of strands.map((s) => ({ first: s.nodes[0], strand: s }))) {
    const from = first?.parent ? at(first.parent) + 1 : 0;
    const to = strand.last;
    const free = taken.findIndex((used) => used.every((u) => u.to < from || to < u.from));
    strand.column = free < 0 ? taken.length : free;
    taken[strand.column] ??= [];
    taken[strand.column]?.push({ from, to });
  }
  return taken.length;
}

// The target of a rewind's line: the next turn after it, otherwise the last node shown after it.
function landing(rewind: TreeNode): TreeNode {
  const { back, session } = rewind;
  if (!back) return rewind;
  const next = back.children.find(
    (child) => child.kind === 'turn' && child.session === session && child.time >= rewind.time,
  );
  return next ?? back;
}

function linesTo(
  node: TreeNode,
  at: (node: TreeNode) => number,
  column: (node: TreeNode) => number,
  { path }: TreeModel,
): TreeLine[] {
  const lines: TreeLine[] = [];
  const point = (n: TreeNode) => ({ row: at(n), column: column(n) });
  if (node.parent && at(node.parent) !== at(node)) {
    const { shown } = node;
    const own = node.kind !== 'rewind' && path.has(node);
    lines.push({ kind: 'branch', from: point(node.parent), to: point(node), shown, path: own });
  }
  if (node.kind === 'rewind' && node.back) {
    const lands = landing(node);
    const to = { row: at(node) + 0.5, column: column(lands) };
    if (to.column === column(node)) return lines;
    lines.push({ kind: 'rewind', from: point(node), to, shown: false, path: false });
    if (lands === node.back) {
      // No turn followed: the branch's line ends there
      lines.push({ kind: 'branch', from: point(lands), to, shown: true, path: path.has(lands) });
    }
  }
  return lines;
}
