// Forks below the chats that they were made from, as far as a list has both.

import type { ListedSession } from '../api/types';

export interface Family {
  session: ListedSession;
  /** In the order of the list. */
  forks: readonly Family[];
  /** When the newest of its members came to the top of the list. */
  time: number;
}

interface Member extends Family {
  forks: Member[];
  source: Member | undefined;
}

/** A chat as a list shows it. */
export interface FamilyRow {
  session: ListedSession;
  /** 0 for a chat that is below no other. */
  level: number;
  /** How many forks it has; those of forks do not count. */
  forks: number;
  unfolded: boolean;
  /** The forks that are folded below it, and theirs. */
  folded: readonly ListedSession[];
}

/**
 * The families of a list, each in the place of its first member.
 *
 * @param apart whether a session begins a family of its own, although it is a fork
 */
export function familiesOf(
  list: readonly ListedSession[],
  apart: (session: ListedSession) => boolean = () => false,
): Family[] {
  const members = new Map<string, Member>();
  for (const session of list) {
    const { id, updated_time: time } = session;
    members.set(id, { session, forks: [], time, source: undefined });
  }
  for (const member of members.values()) {
    const source = members.get(member.session.fork?.session_id ?? '');
    if (!source || apart(member.session) || rootOf(source) === member) continue;
    member.source = source;
    source.forks.push(member);
  }
  const roots = new Set<Member>();
  for (const member of members.values()) {
    const root = rootOf(member);
    if (!roots.has(root)) root.time = member.time;
    roots.add(root);
  }
  return [...roots];
}

function rootOf(member: Member): Member {
  let root = member;
  while (root.source) root = root.source;
  return root;
}

/**
 * The rows of a family: forks of a chat that is not unfolded are left out.
 *
 * @param shown sessions that are never left out, with those that lead to them
 */
export function rowsOf(
  family: Family,
  unfolded: ReadonlySet<string>,
  shown: ReadonlySet<string>,
): FamilyRow[] {
  const rows: FamilyRow[] = [];
  const stack: [Family, number][] = [[family, 0]]; // not a recursion: forks of forks may be many
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [{ session, forks }, level] = next;
    const open = unfolded.has(session.id);
    const visible = forks.filter((fork) => open || shown.has(fork.session.id));
    const folded = open ? [] : everyOne(forks.filter((fork) => !visible.includes(fork)));
    rows.push({ session, level, forks: forks.length, unfolded: open, folded });
    for (const fork of visible.toReversed()) stack.push([fork, level + 1]);
  }
  return rows;
}

function everyOne(families: readonly Family[]): ListedSession[] {
  const found: ListedSession[] = [];
  const stack = [...families];
  for (let next = stack.pop(); next; next = stack.pop()) {
    found.push(next.session);
    stack.push(...next.forks);
  }
  return found;
}

/** A session, its source, the source of that, and so on, as far as they are listed. */
export function pathTo(id: string, list: readonly ListedSession[]): Set<string> {
  const byId = new Map(list.map((session) => [session.id, session]));
  const path = new Set<string>();
  let next: string | undefined = id;
  while (next && !path.has(next)) {
    path.add(next);
    next = byId.get(next)?.fork?.session_id;
  }
  return path;
}
