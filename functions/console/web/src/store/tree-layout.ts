// Lays out a tree as an outline. The path to the current position is a straight line on the left; each
// branch beside it comes right after the turn that it leaves, one column further in. So branches that
// follow each other use the same columns, and names begin near the left edge however many there are.

import { branchesOf, nextOf, type TreeModel, type TreeNode } from './tree-model';

export interface TreeRow {
  node: TreeNode;
  column: number;
  /** node: its node. run: the folded middle of a straight run. more: folded branches of the node. */
  kind: 'node' | 'run' | 'more';
  /** What it hides: turns, or branches for `more`; 0 for nothing. */
  folded: number;
  /** Whether the branch that it begins is unfolded; null if there is nothing to fold. */
  open: boolean | null;
}

/** A line from a row and column to another. */
export interface TreeLine {
  kind: 'branch' | 'rewind';
  from: Point;
  to: Point;
  /** Whether its end is shown by its session. */
  shown: boolean;
  /** Whether it is on the path to the current position of the open session. */
  path: boolean;
}

interface Point {
  row: number;
  column: number;
}

export interface TreeLayout {
  rows: TreeRow[];
  lines: TreeLine[];
  columns: number;
}

const SMALL = 30; // nodes; in a larger tree branches are folded at first
const MOST_BRANCHES = 12; // of one node; of more only the newest are shown at first
const NEWEST = 8;
const MAX_STRAIGHT = 8; // turns; in longer runs the middle is folded
const KEPT = 3; // turns at each end

/** The key by which the older branches of a node are unfolded. */
export const moreKey = (node: TreeNode): string => `${node.key} more`;

/** @param toggled keys of what is folded or unfolded, unlike at first */
export function layoutOf(model: TreeModel, toggled: ReadonlySet<string>): TreeLayout {
  const layout = new Outline(model, toggled);
  const [root] = model.nodes;
  if (root) layout.strand(root, 0);
  const { rows, lines } = layout;
  return { rows, lines, columns: Math.max(0, ...rows.map(({ column }) => column + 1)) };
}

class Outline {
  readonly rows: TreeRow[] = [];
  readonly lines: TreeLine[] = [];
  readonly #points = new Map<TreeNode, Point>();
  readonly #model: TreeModel;
  readonly #toggled: ReadonlySet<string>;

  constructor(model: TreeModel, toggled: ReadonlySet<string>) {
    this.#model = model;
    this.#toggled = toggled;
  }

  /** Adds the nodes that follow each other from a node on, each with the branches that leave it. */
  strand(head: TreeNode, column: number): void {
    let straight: TreeNode[] = [];
    let next: TreeNode | undefined;
    for (let node: TreeNode | undefined = head; node; node = next) {
      next = nextOf(node, this.#model);
      straight.push(node);
      const plain = node.kind === 'turn' && node !== head && node.children.length === 1;
      if (plain && next && node !== this.#model.current) continue;
      this.#run(straight, column);
      this.#branches(node, column);
      straight = [];
    }
  }

  #run(nodes: readonly TreeNode[], column: number): void {
    const middle = nodes.length > MAX_STRAIGHT ? nodes.slice(KEPT, -KEPT) : [];
    const [first] = middle;
    if (!first || this.#toggled.has(first.key)) {
      for (const node of nodes) this.#node(node, column);
      return;
    }
    for (const node of nodes.slice(0, KEPT)) this.#node(node, column);
    this.#node(first, column, { kind: 'run', folded: middle.length });
    const at = this.#points.get(first);
    for (const node of middle) if (at) this.#points.set(node, at);
    for (const node of nodes.slice(-KEPT)) this.#node(node, column);
  }

  #branches(node: TreeNode, column: number): void {
    const branches = branchesOf(node, this.#model);
    const all = branches.length <= MOST_BRANCHES || this.#toggled.has(moreKey(node));
    const shown = all ? branches : branches.slice(-NEWEST);
    if (!all) this.#more(node, column + 1, branches.length - NEWEST);
    for (const head of shown) this.#branch(head, column + 1);
  }

  #branch(head: TreeNode, column: number): void {
    const small = this.#model.nodes.length <= SMALL;
    const folded = turnsBelow(head);
    if (folded > 0 && small === this.#toggled.has(head.key)) {
      this.#node(head, column, { open: false, folded });
      return;
    }
    const row = this.rows.length;
    this.strand(head, column);
    const first = this.rows[row];
    if (first && folded > 0) this.rows[row] = { ...first, open: true };
  }

  #node(node: TreeNode, column: number, more: Partial<TreeRow> = {}): void {
    const at = { row: this.rows.length, column };
    this.#points.set(node, at);
    this.rows.push({ node, column, kind: 'node', folded: 0, open: null, ...more });
    const from = node.parent && this.#points.get(node.parent);
    const { shown } = node;
    const path = this.#model.path.has(node);
    if (from) this.lines.push({ kind: 'branch', from, to: at, shown, path });
    if (node.kind === 'rewind' && node.back) this.#back(node.back, at);
  }

  #more(node: TreeNode, column: number, folded: number): void {
    const from = this.#points.get(node);
    const to = { row: this.rows.length, column };
    this.rows.push({ node, column, kind: 'more', folded, open: null });
    if (from) this.lines.push({ kind: 'branch', from, to, shown: true, path: false });
  }

  // The line of a rewind, if it leads to the line beside it, as that of the newest rewind does.
  #back(back: TreeNode, from: Point): void {
    const origin = this.#points.get(back);
    if (origin?.column !== from.column - 1) return;
    const to = { row: from.row + 0.5, column: origin.column };
    this.lines.push({ kind: 'rewind', from, to, shown: false, path: false });
    if (nextOf(back, this.#model)) return;
    // No turn followed: the line ends there
    const path = this.#model.path.has(back);
    this.lines.push({ kind: 'branch', from: origin, to, shown: true, path });
  }
}

function turnsBelow(head: TreeNode): number {
  let turns = 0;
  const rest = [...head.children];
  for (let node = rest.pop(); node; node = rest.pop()) {
    if (node.kind === 'turn') turns++;
    rest.push(...node.children);
  }
  return turns;
}
