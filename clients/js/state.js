// A client's copy of one session and the rules by which messages change it, without connections and
// clocks. It accepts messages in any order, duplicates included, and equals GET thread once each has
// arrived at least once. If one is missing it says so, with the cursor to subscribe from again.
//
// It may hold only the end of a session: everything from some item on. Messages about earlier items
// are ignored, since a later read returns those items in their current form.

import { compareCursors, formatCursor, parseCursor } from './cursor.js';
import { Item, UNKNOWN } from './item.js';

/** How long a message that arrived early waits for those before it, in milliseconds. */
export const HOLD = 1000;

const MAX_BEHIND = 100; // positions up to which the server sends what a watcher has missed
const MAX_DOUBLINGS = 5; // of HOLD, while repairs do not help
const MAX_HELD = 1000; // messages; subscribing again is cheaper than holding more

/** Takes the place of a cursor to older items that a rewind has invalidated. */
export const STALE = '';

export class WatchState {
  #epoch = 0;
  #seq = 0; // the log is known up to here, from the first held item on
  #items = [];
  #older = null; // cursor to the items before these; null if there are none
  #status = '';
  #runId = '';
  #error = null;
  #statusSeq = 0; // position up to which the status is known
  #threadEpoch = 0; // of the last thread
  #rewound = false; // since the last thread
  #needsThread = true;
  #deleted = false;
  #held = [];
  #lostMessages = false; // since the last repair
  #repairTime = 0; // when to subscribe again if no message is held
  #repairs = 0; // in a row that did not help

  /** Number of changes of the session. */
  version = 0;

  /** Whether the thread must be read and passed to `replace`. Until then messages are held. */
  get needsThread() {
    return this.#needsThread && !this.#deleted;
  }

  /** Whether the session was deleted; no further messages apply. */
  get deleted() {
    return this.#deleted;
  }

  /** Applies a message. Returns whether the session changed. */
  apply(message, now) {
    const before = this.version;
    if (this.#deleted) return false;
    const m = { ...message, cursor: parseCursor(message.cursor), prev: parseCursor(message.prev) };
    if (m.type === 'thread.deleted') {
      this.#deleted = true;
      this.#held = [];
      this.version++;
    } else if (this.#tryApply(m)) {
      this.#applyHeld();
    } else {
      this.#hold(m, now);
    }
    return this.version !== before;
  }

  /** Number of held items. */
  get size() {
    return this.#items.length;
  }

  /** Cursor to the items before those held, or STALE; null if there are none. */
  get older() {
    return this.#older;
  }

  /**
   * Replaces the session by a thread that was read after `needsThread` was true: all pages, oldest
   * items first, or one page with its end and `older`, the cursor to the items before.
   */
  replace(pages, now, older = null) {
    const { status, run, cursor } = pages.at(-1);
    const at = parseCursor(cursor);
    this.#epoch = at.epoch;
    // The cursor may be of an item in progress before the last.
    this.#seq = Math.max(at.seq, pages.at(-1).items.at(-1)?.seq ?? 0);
    this.#items = pages.flatMap(({ items, offsets }) => items.map((event) => new Item(
      event, offsets?.[event.id] ?? (event.seq === at.seq ? at.offset : UNKNOWN),
    )));
    this.#older = older;
    this.#status = status;
    this.#runId = run?.id ?? '';
    this.#error = run?.error ?? null;
    this.#statusSeq = this.#seq;
    this.#threadEpoch = at.epoch;
    this.#rewound = this.#needsThread = false;
    this.#repairTime = this.#repairs > 0 ? now + this.#repairDelay() : now;
    this.version++;
    this.#applyHeld();
  }

  /**
   * Adds the items before those held, oldest first, with the cursor to the items before them.
   * Returns false and changes nothing if `from`, the cursor they were read with, is not `older` any
   * more.
   */
  prepend(items, from, older, now) {
    if (this.#needsThread || from === STALE || from !== this.#older) return false;
    this.#items.unshift(...items.map((event) => new Item(event, UNKNOWN)));
    this.#older = older;
    if (items.some(({ status }) => status === 'in_progress')) {
      this.#repairTime = this.#repairs > 0 ? now + this.#repairDelay() : now;
    }
    this.version++;
    return true;
  }

  /**
   * Requests the thread although nothing is missing, to get a new cursor to the older items. The
   * answer to a subscription already sent will not fit the new thread, so another one follows.
   */
  reread() {
    this.#needsThread = this.#lostMessages = true;
  }

  /** Reports that a connection ended, on which messages may have been lost. */
  lost() {
    // A rewind that restores items is followed by a message for them, which is not repeated to a
    // watcher whose cursor is after the rewind.
    this.#needsThread ||= this.#rewound || this.#items.some((item) => this.#tooFarBehind(item));
  }

  /** Reports that a message arrived that could not be parsed. */
  missed(now) {
    this.#lostMessages = true;
    this.#repairTime = now + this.#repairDelay();
  }

  // Whether an unfinished item is so far behind that the server does not send all messages from there.
  #tooFarBehind(item) {
    return !item.final && this.#seq - item.seq >= MAX_BEHIND;
  }

  /**
   * Position to subscribe from. Everything after it may have changed unnoticed. An item too far
   * behind is not waited for: the messages after this position include it.
   */
  get cursor() {
    const open = this.#items.find((item) => !item.final && !this.#tooFarBehind(item));
    if (open) {
      // From its own position, an item completed without deltas would be skipped.
      const seq = open.offset > 0 ? open.seq : open.seq - 1;
      return formatCursor({ epoch: this.#epoch, seq, offset: Math.max(0, open.offset) });
    }
    const offset = Math.max(0, this.#at(this.#seq)?.offset ?? 0);
    return formatCursor({ epoch: this.#epoch, seq: this.#seq, offset });
  }

  /** When to subscribe again from `cursor` because something is missing; null if nothing is. */
  get repairAt() {
    if (this.#needsThread || this.#deleted) return null;
    const times = this.#held.map(({ due }) => due);
    if (this.#mayMissData()) times.push(this.#repairTime);
    return times.length > 0 ? Math.min(...times) : null;
  }

  /** Reports that the caller has subscribed again; each repair that does not help doubles the delay. */
  repairing(now) {
    this.#repairTime = now + this.#repairDelay();
    if (this.#held.length > 0 || this.#mayMissData()) this.#repairs++;
    this.#lostMessages = false;
    for (const waiting of this.#held) waiting.due = this.#repairTime;
  }

  /** Returns the session; unchanged items stay the same objects. */
  show() {
    return {
      items: this.#items.map((item) => item.render()),
      status: this.#status,
      run_id: this.#runId,
      error: this.#error,
      status_seq: this.#statusSeq,
      epoch: this.#epoch,
      deleted: this.#deleted,
      has_older: this.#older !== null,
    };
  }

  #repairDelay() {
    return HOLD * 2 ** Math.min(this.#repairs, MAX_DOUBLINGS);
  }

  #mayMissData() {
    return this.#lostMessages || this.#items.some((item) => !item.final && item.offset === UNKNOWN);
  }

  #hold(m, now) {
    if (this.#held.length >= MAX_HELD) {
      this.#held = [];
      this.#lostMessages = true;
      this.#repairTime = now;
    }
    const i = this.#held.findIndex((h) => compareCursors(m.cursor, h.m.cursor) < 0);
    this.#held.splice(i < 0 ? this.#held.length : i, 0, { m, due: now + this.#repairDelay() });
  }

  #applyHeld() {
    for (let before = -1; before !== this.#held.length;) {
      before = this.#held.length;
      this.#held = this.#held.filter(({ m }) => !this.#tryApply(m));
    }
    if (this.#held.length === 0 && !this.#mayMissData()) this.#repairs = 0;
  }

  // Applies a message, or ignores it if the state includes it already. Returns false if earlier
  // messages are missing.
  #tryApply(m) {
    if (this.#needsThread) return false;
    switch (m.type) {
      case 'item.snapshot':
        return this.#applySnapshot(m);
      case 'item.delta':
        return this.#applyDelta(m);
      case 'item.completed':
      case 'item.failed': {
        const i = this.#find(m.cursor.seq, m.item.id);
        return i < 0 ? this.#isStale(m) : this.#replaceItem(i, m);
      }
      case 'thread.rewound':
        return this.#applyRewound(m);
      case 'thread.reload':
        this.#handleReload(m);
        return true;
      default: // thread.status, and types of a newer server
        return this.#applyStatus(m);
    }
  }

  // How the positions that a message covers relate to the state: 'known', 'next' or 'ahead'.
  #relation({ cursor, prev }) {
    if (cursor.epoch !== this.#epoch) return cursor.epoch < this.#epoch ? 'known' : 'ahead';
    if (prev.seq > this.#seq) return 'ahead';
    return cursor.seq <= this.#seq ? 'known' : 'next';
  }

  #index(seq) {
    let low = 0;
    for (let high = this.#items.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.#items[middle].seq < seq) low = middle + 1;
      else high = middle;
    }
    return this.#items[low]?.seq === seq ? low : -1;
  }

  #at(seq) {
    return this.#items[this.#index(seq)];
  }

  // Index of a message's item, or -1. The epoch does not matter: an item that is still shown after a
  // rewind completes as without it.
  #find(seq, id) {
    const i = this.#index(seq);
    return i >= 0 && this.#items[i].id === id ? i : -1;
  }

  // Whether an item that is not shown was hidden since; otherwise it has not been received yet.
  #isStale({ cursor }) {
    return cursor.epoch < this.#epoch || (cursor.epoch === this.#epoch && cursor.seq <= this.#seq);
  }

  #replaceItem(i, m) {
    const fresh = this.#items[i].replacedBy(m.item, m.cursor.offset, m.until !== undefined);
    if (fresh !== this.#items[i]) {
      this.#items[i] = fresh;
      this.version++;
    }
    return true;
  }

  // Updates an item in place or adds it. Later items of the same epoch stay: positions of a log never
  // change, so later messages would only repeat them.
  #applySnapshot(m) {
    const i = this.#find(m.cursor.seq, m.item.id);
    if (i >= 0) return this.#replaceItem(i, m);
    const relation = this.#relation(m);
    if (relation === 'next') {
      this.#items.push(new Item(m.item, m.cursor.offset));
      this.#seq = m.cursor.seq;
      this.version++;
    }
    return relation !== 'ahead';
  }

  #applyDelta(m) {
    const i = this.#find(m.cursor.seq, m.item_id);
    if (i < 0) return this.#isStale(m);
    const became = this.#items[i].grow(m.delta, m.prev.offset, m.cursor.offset);
    if (became === 'changed') this.version++;
    return became !== 'ahead';
  }

  // Advances to the message's position, and sets the status unless a newer one is known: a catch-up
  // can pass positions whose messages arrive later.
  #applyStatus(m) {
    const relation = this.#relation(m);
    if (relation === 'ahead') return false;
    if (m.cursor.epoch < this.#epoch) return true;
    if (m.status && m.cursor.seq >= this.#statusSeq) this.#setStatus(m);
    if (relation === 'next') this.#seq = m.cursor.seq;
    return true;
  }

  #setStatus({ status, run_id: run, error, cursor }) {
    const runId = status === 'idle' ? '' : (run ?? ''); // the message names the run that ended
    if (status !== this.#status || runId !== this.#runId || cursor.seq > this.#statusSeq) this.version++;
    this.#status = status;
    this.#runId = runId;
    this.#error = status === 'failed' ? (error ?? null) : null;
    this.#statusSeq = cursor.seq;
  }

  // Removes the items that a rewind hides. After a rewind the session is idle: it requires that no run
  // is active, and it hides a failed one.
  #applyRewound(m) {
    const { epoch, seq } = m.cursor;
    if (epoch < this.#epoch || (epoch === this.#epoch && seq <= this.#seq)) return true;
    if (epoch > this.#epoch + 1 || m.prev.seq > this.#seq) return false;
    this.#items = this.#items.filter((item) => item.seq <= m.to_seq);
    if (this.#older !== null) this.#invalidateOlder();
    this.#rewound ||= epoch > this.#epoch;
    this.#epoch = epoch;
    this.#seq = seq;
    this.#setStatus({ status: 'idle', cursor: m.cursor });
    this.version++;
    return true;
  }

  // The server rejects a cursor from before a rewind. The held items remain valid; without any, the
  // thread is needed.
  #invalidateOlder() {
    this.#older = STALE;
    this.#needsThread ||= this.#items.length === 0;
  }

  // Requests the thread, unless the last one read includes the reason of the message.
  #handleReload(m) {
    const { cursor, prev } = m;
    if (m.reason === 'history_changed') {
      // A position after the end of the log means that the session was recreated.
      const another = cursor.epoch === prev.epoch && compareCursors(cursor, prev) < 0;
      if (!another && this.#threadEpoch >= cursor.epoch) return;
    } else if (m.reason === 'item_too_large') {
      const item = this.#at(cursor.seq);
      if (item ? item.final : this.#isStale(m)) return;
    } else if (this.#threadEpoch > cursor.epoch) {
      return;
    }
    this.#needsThread = true;
  }
}
