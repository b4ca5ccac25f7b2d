// The tree of a session and its forks: which question followed which, across forks and rewinds.

import type { Branch, Event } from '../api/types';
import { type Boundary, boundaryOf, isMessage, Lineage } from './history-lineage';

export interface TreeNode {
  key: string;
  /** session: its beginning. rewind: the end of the part that it has hidden. */
  kind: 'session' | 'turn' | 'rewind';
  session: string;
  /** The invocation of a turn or a rewind; '' for a session. */
  invocation: string;
  /** A session's name, a turn's question, or the question at a rewind's boundary. */
  label: string;
  time: number;
  parent: TreeNode | null;
  children: TreeNode[];
  /** Whether its session shows it now. */
  shown: boolean;
  deleted: boolean;
  /** For a rewind: the last node shown after it. */
  back: TreeNode | null;
  /** For a rewind: whether it undoes another one. */
  undoes: boolean;
  /** For a rewind: whether it restores what another one has hidden. */
  returns: boolean;
}

export interface TreeModel {
  /** Each node after its parent. */
  nodes: TreeNode[];
  /** The current position of the open session. */
  current: TreeNode | null;
  /** The nodes that the open session shows, including those inherited from other sessions. */
  path: ReadonlySet<TreeNode>;
}

/** @param logs the entries of each session's own log; those of deleted sessions are missing */
export function treeOf(
  root: Branch,
  logs: ReadonlyMap<string, readonly Event[]>,
  open: string,
): TreeModel {
  const model = { nodes: [] as TreeNode[], current: null as TreeNode | null };
  grow(root, null);
  return { ...model, path: new Set(model.current ? upFrom(model.current) : []) };

  function grow(branch: Branch, from: Trunk | null): void {
    const trunk = new Trunk(branch, from);
    for (const entry of logs.get(branch.id) ?? []) trunk.add(entry);
    model.nodes.push(...trunk.nodes);
    for (const node of upFrom(trunk.tip)) if (node.session === branch.id) node.shown = true;
    trunk.head.shown = true;
    if (branch.id === open) model.current = trunk.tip;
    for (const child of branch.children) grow(child, trunk);
  }
}

/** One session of the tree while it is built. */
class Trunk {
  readonly head: TreeNode;
  readonly nodes: TreeNode[] = [];
  readonly #id: string;
  readonly #lineage: Lineage<TreeNode>;
  /** The tips over time, for forks without a boundary. */
  readonly #tips: { time: number; tip: TreeNode }[] = [];

  constructor(branch: Branch, from: Trunk | null) {
    this.#id = branch.id;
    this.head = this.#add({
      key: branch.id,
      kind: 'session',
      label: branch.name,
      time: branch.created_time,
      parent: from?.before(branch) ?? null,
      deleted: branch.deleted,
    });
    this.#lineage = new Lineage(this.head, (boundary) => from?.shownBefore(boundary));
  }

  get tip(): TreeNode {
    return this.#lineage.tip;
  }

  shownBefore(boundary: Boundary): TreeNode | undefined {
    return this.#lineage.before(boundary);
  }

  /** The last node inherited by a fork. */
  before({ rewind_before_invocation_id: boundary, created_time: time }: Branch): TreeNode {
    const found = boundary === null ? undefined : this.#lineage.before(boundary);
    return found ?? this.#tips.findLast((past) => past.time <= time)?.tip ?? this.head;
  }

  add(entry: Event): void {
    this.#lineage.see(entry);
    const boundary = boundaryOf(entry);
    if (boundary !== undefined) this.#rewind(entry, boundary);
    else if (isMessage(entry)) this.#say(entry);
    this.#tips.push({ time: entry.created_time, tip: this.tip });
  }

  #rewind(entry: Event, boundary: Boundary): void {
    const back = this.#lineage.before(boundary) ?? this.head;
    const key = `${this.#id}/${boundary}`;
    const before = this.nodes.find((node) => node.invocation === boundary || node.key === key);
    const undoes = before?.kind === 'rewind';
    const returns = ![...upFrom(this.tip)].includes(back);
    const label = before?.label ?? '';
    const parent = this.tip;
    this.#add({ ...this.#of(entry), kind: 'rewind', label, parent, back, undoes, returns });
    this.#lineage.tip = back;
  }

  #say(entry: Event): void {
    const { tip } = this;
    const same = tip.kind === 'turn' && tip.session === this.#id;
    if (same && tip.invocation === entry.invocation_id) {
      if (tip.label === '') tip.label = textOf(entry);
      return;
    }
    const node = { ...this.#of(entry), kind: 'turn', label: textOf(entry), parent: tip } as const;
    this.#lineage.tip = this.#add(node);
  }

  #of(entry: Event) {
    return {
      key: `${this.#id}/${entry.seq}`,
      invocation: entry.invocation_id,
      time: entry.created_time,
    };
  }

  #add(given: Pick<TreeNode, 'key' | 'kind' | 'label' | 'time' | 'parent'> & Partial<TreeNode>) {
    const node: TreeNode = {
      session: this.#id,
      invocation: '',
      children: [],
      shown: false,
      deleted: false,
      back: null,
      undoes: false,
      returns: false,
      ...given,
    };
    node.parent?.children.push(node);
    this.nodes.push(node);
    return node;
  }
}

/**
 * The node that continues the line of another: the next one on the path to the current position,
 * otherwise of the same session, what it shows before what it has hidden.
 */
export function nextOf(node: TreeNode, { path }: TreeModel): TreeNode | undefined {
  const { children, session, shown } = node;
  const own = children.filter((child) => child.kind === 'turn' && child.session === session);
  return (
    children.find((child) => path.has(child)) ??
    own.find((child) => child.shown) ??
    (shown ? undefined : (own.at(-1) ?? children.find(({ kind }) => kind === 'rewind')))
  );
}

/** The nodes that begin branches beside the line of a node, oldest first. */
export function branchesOf(node: TreeNode, model: TreeModel): TreeNode[] {
  const next = nextOf(node, model);
  return node.children.filter((child) => child !== next).sort((a, b) => a.time - b.time);
}

/** The newest turn that each session shows, of those that are its own. */
export function newestTurns({ nodes }: TreeModel): ReadonlyMap<string, TreeNode> {
  const newest = new Map<string, TreeNode>();
  for (const node of nodes) {
    if (node.kind === 'turn' && node.shown) newest.set(node.session, node);
  }
  return newest;
}

function* upFrom(node: TreeNode): Generator<TreeNode> {
  for (let at: TreeNode | null = node; at; at = at.parent) yield at;
}

function textOf({ content }: Event): string {
  const parts: unknown = content?.parts;
  if (!Array.isArray(parts)) return '';
  const texts = parts.flatMap(({ text, thought }) => (text && !thought ? String(text) : []));
  return texts.join(' ').trim().replace(/\s+/g, ' ');
}
