// Two branches of a family beside each other: from where they part, and how they end.

import { computed, signal } from '@preact/signals-core';
import type { WatchedSession } from 'rethread';
import type { Api } from '../../api/client';
import { readForks } from '../../api/forks';
import type { Event, Branch as Family } from '../../api/types';
import { type Delta, deltaOf, valueAfter, versionsOf } from '../developer/changes';
import { askedIn, type Trace } from '../developer/traces';
import { LogPages } from '../log-pages';
import { align, type Pair, similarity } from './align';
import { type Branch, BranchLine } from './branch';

const PAGE = 200; // entries
const BESIDE = 0.2; // the score of turns whose questions have nothing in common

export interface Difference {
  key: string;
  left: Known;
  right: Known;
}

/** A value at the end of a branch; `known` is false if what set it is not loaded. */
export interface Known {
  value: unknown;
  known: boolean;
}

export class Comparison {
  readonly left: BranchLine;
  readonly right: BranchLine;
  /** The sessions of the family, from its root; null until loaded, or if it cannot be read. */
  readonly family = signal<readonly Family[] | null>(null);
  readonly ready = signal(false);
  readonly loading = computed(() => this.#all.some(({ loading }) => loading.value));
  /** Why loading failed; '' otherwise. */
  readonly failed = computed(
    () => this.#all.map(({ failed }) => failed.value).find((why) => why !== '') ?? '',
  );
  /** Whether a branch is not in its log. */
  readonly missing = computed(
    () => this.ready.value && this.#lines.some(({ end }) => end.value === undefined),
  );
  /** The newest turn that both have; null if they have none in common, or it is not loaded. */
  readonly common = computed(() => commonOf(this.left.turns.value, this.right.turns.value));
  /** The turns after it. */
  readonly after = computed(() => ({
    left: afterCommon(this.left.turns.value, this.common.value?.invocation),
    right: afterCommon(this.right.turns.value, this.common.value?.invocation),
  }));
  readonly pairs = computed<readonly Pair<Trace>[]>(() => {
    const { left, right } = this.after.value;
    return align(left, right, (a, b) => BESIDE + similarity(askedIn(a), askedIn(b)));
  });
  readonly state = computed(() => this.#differences(deltaOf));
  readonly artifacts = computed(() => this.#differences(versionsOf));

  readonly #api: Api;
  readonly #lines: readonly BranchLine[];
  readonly #all: readonly LogPages[];

  constructor(left: Branch, right: Branch, api: Api) {
    this.#api = api;
    const pages = new LogPages(left.session, api, PAGE);
    const others = left.session === right.session ? pages : new LogPages(right.session, api, PAGE);
    this.left = new BranchLine(left, pages);
    this.right = new BranchLine(right, others);
    this.#lines = [this.left, this.right];
    this.#all = [...new Set([pages, others])];
  }

  /** Reads both logs back to where the branches part. */
  async load(): Promise<void> {
    void this.#readFamily();
    await Promise.all(this.#all.map((pages) => pages.refresh()));
    await this.#older(() => this.common.value !== null);
    this.ready.value = this.failed.peek() === '';
  }

  /** Reads what is new in the branches that are shown now, until the returned function is called. */
  follow(): () => void {
    const now = this.#lines.filter(({ branch }) => branch.before === '');
    const watching = [...new Set(now.map(({ pages }) => pages))].map((pages) => {
      let known = '';
      const onChange = ({ items, status, epoch }: WatchedSession<Event>) => {
        const last = items.at(-1)?.seq ?? 0;
        const news = [last, status, epoch].join();
        const entries = pages.entries.peek();
        const behind = last > (entries.at(-1)?.seq ?? 0) || (known !== '' && known !== news);
        known = news;
        if (pages.loaded.peek() && behind) void pages.refresh();
      };
      return this.#api.watch<Event>(pages.session, { tail: 1, onChange });
    });
    return () => {
      for (const one of watching) one.close();
    };
  }

  /** Reads further back until the values of what differs are known. */
  async lookBack(): Promise<void> {
    const known = ({ left, right }: Difference) => left.known && right.known;
    await this.#older(() => [...this.state.value, ...this.artifacts.value].every(known));
  }

  async #older(holds: () => boolean): Promise<void> {
    const rest = () => this.#all.filter(({ more }) => more.value);
    while (!holds() && rest().length > 0 && this.failed.peek() === '') {
      await Promise.all(rest().map((pages) => pages.loadOlder()));
    }
  }

  // Without it, there is less to choose from.
  async #readFamily(): Promise<void> {
    try {
      const root = await readForks(this.#api, this.left.branch.session);
      this.family.value = all(root).filter(({ deleted }) => !deleted);
    } catch {
      this.family.value = [];
    }
  }

  // What either branch has changed since they parted.
  #differences(delta: Delta): Difference[] {
    const { left, right } = this.after.value;
    const keys = new Set([...left, ...right].flatMap((turn) => [...delta(turn).keys()]));
    const [a, b] = [this.left.turns.value.at(-1) ?? null, this.right.turns.value.at(-1) ?? null];
    return [...keys].sort().map((key) => ({
      key,
      left: valueAfter(a, key, delta),
      right: valueAfter(b, key, delta),
    }));
  }
}

function commonOf(left: readonly Trace[], right: readonly Trace[]): Trace | null {
  const others = new Set(right.map(({ invocation }) => invocation));
  return left.findLast(({ invocation }) => others.has(invocation)) ?? null;
}

function afterCommon(turns: readonly Trace[], invocation: string | undefined): readonly Trace[] {
  if (invocation === undefined) return turns;
  return turns.slice(turns.findLastIndex((turn) => turn.invocation === invocation) + 1);
}

const all = (branch: Family): Family[] => [branch, ...branch.children.flatMap(all)];
