// The questions that other sessions of a tree of forks have at places of the open one.

import type { Branch } from '../api/types';
import type { Elsewhere } from './variants-model';

/** A session that may have one, which its log tells. */
export interface Candidate {
  branch: Branch;
  at: Elsewhere['at'];
  /** A position in its log: the question is the first one after it, */
  after: number;
  /** from an invocation on, */
  from: string | null;
  /** and after a time. */
  since: number;
}

/**
 * Returns them, the newest first: forks made at a place that the open session has, and the sessions
 * that it was forked from itself. Whatever precedes an invocation is the same wherever it was
 * inherited.
 */
export function candidatesOf(root: Branch, open: string): Candidate[] {
  const line = lineTo(root, open);
  const own = new Set(line);
  const found = [...ancestors(line)];
  for (const branch of all(root)) {
    const { id, deleted, rewind_before_invocation_id: before, created_time: when } = branch;
    if (deleted || own.has(branch) || found.some((c) => c.branch.id === id)) continue;
    const child = line.at(-1)?.children.includes(branch) ?? false;
    if (before !== null) found.push(fork(branch, { before }));
    else if (child) found.push(fork(branch, { when }));
  }
  return found.sort((a, b) => b.branch.created_time - a.branch.created_time);
}

// The sessions above the open one, and their forks at the same boundaries.
function* ancestors(line: readonly Branch[]): Generator<Candidate> {
  let inherited = Number.POSITIVE_INFINITY;
  for (let i = line.length - 1; i > 0; i--) {
    const [parent, branch] = [line[i - 1], line[i]];
    if (!parent || !branch) return;
    const { forked_at_seq: after, rewind_before_invocation_id: before } = branch;
    if (after > inherited) continue; // a fork further up has left it out
    inherited = after;
    if (!parent.deleted) yield origin(parent, branch);
    if (before === null) continue;
    for (const other of parent.children) {
      const same = other !== branch && !other.deleted;
      if (same && other.rewind_before_invocation_id === before) yield fork(other, { after });
    }
  }
}

function origin(parent: Branch, branch: Branch): Candidate {
  const { forked_at_seq: after, created_time, rewind_before_invocation_id: from } = branch;
  return { branch: parent, at: { after }, after, from, since: from === null ? created_time : 0 };
}

const fork = (branch: Branch, at: Elsewhere['at']): Candidate => ({
  branch,
  at,
  after: branch.forked_at_seq,
  from: null,
  since: 0,
});

/** The sessions from the root to one of its descendants. */
function lineTo(branch: Branch, id: string): Branch[] {
  if (branch.id === id) return [branch];
  for (const child of branch.children) {
    const rest = lineTo(child, id);
    if (rest.length > 0) return [branch, ...rest];
  }
  return [];
}

const all = (branch: Branch): Branch[] => [branch, ...branch.children.flatMap(all)];
