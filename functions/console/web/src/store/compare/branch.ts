// A branch: what a session shows now, or has shown before a rewind.

import { computed } from '@preact/signals-core';
import { type Trace, Traces } from '../developer/traces';
import { markerOf } from '../history-rows';
import type { LogPages } from '../log-pages';

export interface Branch {
  session: string;
  /** The invocation of the entry before which it was shown, such as a rewind's; '' for now. */
  before: string;
}

export const isSame = (a: Branch, b: Branch): boolean =>
  a.session === b.session && a.before === b.before;

/** The turns of a branch, as far as its log is loaded. */
export class BranchLine {
  readonly branch: Branch;
  readonly pages: LogPages;
  /** The position of the entry before which it was shown; undefined while that is not loaded. */
  readonly end = computed(() => {
    const { before } = this.branch;
    if (before === '') return Number.POSITIVE_INFINITY;
    return this.pages.entries.value.find(({ invocation_id }) => invocation_id === before)?.seq;
  });
  /** Oldest first. */
  readonly turns = computed<readonly Trace[]>(() => {
    const end = this.end.value;
    if (end === undefined) return [];
    const log = this.pages.entries.value.filter(({ seq }) => seq < end);
    return this.#traces.of(log, null).filter(({ hidden, marker }) => !hidden && !marker);
  });
  readonly #traces = new Traces();

  constructor(branch: Branch, pages: LogPages) {
    this.branch = branch;
    this.pages = pages;
  }
}

/** A part of a session that a rewind has hidden. */
export interface Part {
  /** The invocation of the rewind. */
  before: string;
  time: number;
  discard: boolean;
}

/** The parts that rewinds have hidden, the newest first, as far as the log is loaded. */
export function partsOf(pages: LogPages): Part[] {
  const parts = pages.entries.value.flatMap((entry) => {
    const marker = markerOf(entry);
    return marker ? { before: marker.invocation, time: marker.time, discard: marker.discard } : [];
  });
  return parts.toReversed();
}
