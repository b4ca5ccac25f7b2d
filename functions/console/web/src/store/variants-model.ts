// The variants of a question: the questions that were asked at the same place of the conversation,
// which is after the same question. Those of the session's own log were hidden by rewinds, or hide
// the others; those of other sessions were asked in forks made at that place, or in the session that
// was forked.

import type { Event } from '../api/types';
import { type Boundary, boundaryOf, isMessage, Lineage } from './history-lineage';
import { isQuestion, Messages } from './message';

/** An entry of the log, as far as the course of the conversation depends on it. */
export interface Mark {
  seq: number;
  invocation_id: string;
  time: number;
  /** For a rewind, what it goes back to before. */
  boundary: Boundary | undefined;
  kind: 'question' | 'answer' | 'no answer' | 'message' | 'other';
}

export function markOf(entry: Event): Mark {
  const { seq, invocation_id, created_time: time } = entry;
  return { seq, invocation_id, time, boundary: boundaryOf(entry), kind: kindOf(entry) };
}

function kindOf(entry: Event): Mark['kind'] {
  if (!isMessage(entry)) return 'other';
  const [message] = new Messages().of([entry]);
  if (!message) return 'message';
  if (isQuestion(message)) return 'question';
  if (entry.status === 'failed' && message.blocks.length === 0) return 'no answer';
  return message.role === 'agent' ? 'answer' : 'message';
}

/** A question of another session, and where in this one it belongs. */
export interface Elsewhere {
  session: string;
  name: string;
  invocation: string;
  time: number;
  /** Just before the first entry of an invocation, after a position, or at the end at a time. */
  at: { before: string } | { after: number } | { when: number };
}

export interface Variant {
  /** The invocation of the question. */
  invocation: string;
  time: number;
  /** The marker that hid it last: a rewind to before it shows the question, and what followed. */
  hiddenBy: string;
  /** The session that it was asked in; null for the open one. */
  elsewhere: Elsewhere | null;
}

/** The variants of a question that is shown, in the order in which they were asked. */
export interface Group {
  variants: Variant[];
  /** The position of the one that is shown. */
  index: number;
}

/** A turn of the log, linked to what was shown before it. */
interface Node {
  invocation: string;
  seq: number;
  time: number;
  before: Node | null;
  asks: boolean;
  answers: boolean;
  /** Whether its answer failed or was stopped. */
  broken: boolean;
  hiddenBy: string;
}

/**
 * Returns the groups of the questions that are shown and have variants, by invocation.
 * @param marks a part of the log up to its end, without gaps
 * @param whole whether they begin with its first entry; otherwise it is unknown what preceded them
 */
export function groupsOf(
  marks: readonly Mark[],
  whole: boolean,
  elsewhere: readonly Elsewhere[],
): Map<string, Group> {
  const course = new Course();
  for (const mark of marks) course.add(mark);
  const known = (place: Node) => whole || place !== course.start;
  const byPlace = new Map<Node, Variant[]>();
  const shown = new Set(upFrom(course.tip));
  const questions = new Set([...shown].flatMap((n) => (n.asks ? n.invocation : [])));
  for (const node of course.nodes) {
    const listed = shown.has(node) || (node.hiddenBy && (node.answers || !node.broken));
    if (node.asks && listed) add(byPlace, placeOf(node.before), variantOf(node));
  }
  for (const other of elsewhere) {
    const at = course.find(other.at);
    if (at) add(byPlace, placeOf(at), { ...other, hiddenBy: '', elsewhere: other });
  }
  const groups = new Map<string, Group>();
  for (const [place, variants] of byPlace) {
    variants.sort((a, b) => a.time - b.time);
    const index = variants.findIndex((v) => !v.elsewhere && questions.has(v.invocation));
    const question = variants[index];
    if (variants.length < 2 || !question || !known(place)) continue;
    groups.set(question.invocation, { variants, index });
  }
  return groups;
}

// Follows the log, entry by entry.
class Course {
  readonly start: Node = nodeOf({ invocation_id: '', seq: 0, time: 0 }, null);
  readonly nodes: Node[] = [];
  readonly #lineage = new Lineage<Node>(this.start);
  readonly #tips: { seq: number; time: number; tip: Node }[] = [];

  get tip(): Node {
    return this.#lineage.tip;
  }

  add(mark: Mark): void {
    const { seq, time, invocation_id, boundary, kind } = mark;
    const fresh = this.#lineage.before(invocation_id) === undefined;
    this.#lineage.see(mark);
    if (boundary !== undefined) this.#rewind(boundary, fresh ? invocation_id : '');
    else if (kind !== 'other') this.#say(mark);
    this.#tips.push({ seq, time, tip: this.tip });
  }

  /** The last turn shown at a point; undefined for an unknown one. */
  find(at: Elsewhere['at']): Node | undefined {
    if ('before' in at) return this.#lineage.before(at.before);
    if ('after' in at) return this.#tips.find(({ seq }) => seq === at.after)?.tip;
    return this.#tips.findLast(({ time }) => time <= at.when)?.tip;
  }

  #say(mark: Mark): void {
    const { tip } = this;
    const same = tip !== this.start && tip.invocation === mark.invocation_id;
    const node = same ? tip : nodeOf(mark, tip);
    node.asks ||= mark.kind === 'question';
    node.answers ||= mark.kind === 'answer';
    node.broken ||= mark.kind === 'no answer';
    if (same) return;
    this.nodes.push(node);
    this.#lineage.tip = node;
  }

  // A marker's id that had been used before stands for the earlier one.
  #rewind(boundary: Boundary, marker: string): void {
    const back = this.#lineage.before(boundary) ?? this.start;
    const stay = new Set(upFrom(back));
    for (const node of upFrom(this.tip)) {
      if (stay.has(node)) break;
      if (marker) node.hiddenBy = marker;
      // By the server, before the next question
      node.broken ||= typeof boundary === 'number' || marker === `discard-${boundary}`;
    }
    this.#lineage.tip = back;
  }
}

function nodeOf(mark: Pick<Mark, 'invocation_id' | 'seq' | 'time'>, before: Node | null): Node {
  const { invocation_id: invocation, seq, time } = mark;
  const fresh = { asks: false, answers: false, broken: false, hiddenBy: '' };
  return { invocation, seq, time, before, ...fresh };
}

function* upFrom(node: Node): Generator<Node> {
  for (let at: Node | null = node; at; at = at.before) yield at;
}

// Turns without a question, such as a file that was saved, make no place of their own.
function placeOf(node: Node | null): Node {
  let place = node;
  while (place?.before && !place.asks) place = place.before;
  if (!place) throw new Error('unreachable: only the start has nothing before it');
  return place;
}

const variantOf = ({ invocation, time, hiddenBy }: Node): Variant => ({
  invocation,
  time,
  hiddenBy,
  elsewhere: null,
});

// A question that the session has itself, or that several others have inherited, counts once.
function add(byPlace: Map<Node, Variant[]>, place: Node, variant: Variant): void {
  const variants = byPlace.get(place) ?? [];
  if (!variants.some(({ invocation }) => invocation === variant.invocation)) {
    byPlace.set(place, [...variants, variant]);
  }
}
