// What a client knows of one session, and how messages change it. It knows neither connections nor
// clocks: it takes messages in any order, any number of times, and ends at what GET thread shows
// once each has come at least once. Where one is missing it says so, and from where to ask again.
//
// It may hold the end of a session alone: all that the session shows from some item on. Messages
// about what stands before that item are as good as taken, since whoever reads it later reads it
// as it is then.

import { compareCursors, formatCursor, parseCursor } from './cursor.js';
import { Item, UNKNOWN } from './item.js';

/** How long a message that came too early waits for those before it, in milliseconds. */
export const HOLD = 1000;

const MAX_BEHIND = 100; // positions that a watcher is told of
const MOST_DOUBLINGS = 5; // of that, while asking does not help
const MOST_HELD = 1000; // to ask again costs less than to keep more

/** Stands for a cursor to older items that a rewind has made useless. */
export const CUT = '';

export class WatchState {
  #epoch = 0;
  #seq = 0; // all of the log up to here is known, as far back as items are held
  #items = [];
  #older = null; // cursor to the items before these; null where there are none
  #status = '';
  #runId = '';
  #error = null;
  #statusSeq = 0; // position up to which the status is known
  #threadEpoch = 0; // of the thread that was taken last
  #rewound = false; // since then
  #needsThread = true;
  #deleted = false;
  #held = [];
  #dropped = false; // messages that might have been needed, since it was asked
  #askAt = 0; // when to ask for what is missing although nothing is held
  #asked = 0; // times in a row that asking did not help

  /** Counts what changed. */
  version = 0;

  /** Whether only a thread helps. Until it is there messages are held. */
  get needsThread() {
    return this.#needsThread && !this.#deleted;
  }

  /** Whether the session is gone; then nothing follows. */
  get deleted() {
    return this.#deleted;
  }

  /** Takes a message and tells whether it changed what the session shows. */
  apply(message, now) {
    const before = this.version;
    if (this.#deleted) return false;
    const m = { ...message, cursor: parseCursor(message.cursor), prev: parseCursor(message.prev) };
    if (m.type === 'thread.deleted') {
      this.#deleted = true;
      this.#held = [];
      this.version++;
    } else if (this.#take(m)) {
      this.#settle();
    } else {
      this.#keep(m, now);
    }
    return this.version !== before;
  }

  /** How many items are held. */
  get size() {
    return this.#items.length;
  }

  /** Cursor to the items before those that are held, or CUT; null where there are none. */
  get older() {
    return this.#older;
  }

  /**
   * Takes a thread that was read after needsThread was true: all pages of it, oldest items first,
   * or the end of it, with a cursor to what stands before.
   */
  replace(pages, now, older = null) {
    const { status, run, cursor } = pages.at(-1);
    const at = parseCursor(cursor);
    this.#epoch = at.epoch;
    // The cursor may be that of an item in progress before the last.
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
    this.#askAt = this.#asked > 0 ? now + this.#patience() : now;
    this.version++;
    this.#settle();
  }

  /**
   * Takes the items before those that are held, oldest first, and the cursor to what stands before
   * them. They were read with the cursor `from`: false, and nothing changes, where that is not
   * where the held items begin any more.
   */
  prepend(items, from, older, now) {
    if (this.#needsThread || from === CUT || from !== this.#older) return false;
    this.#items.unshift(...items.map((event) => new Item(event, UNKNOWN)));
    this.#older = older;
    if (items.some(({ status }) => status === 'in_progress')) {
      this.#askAt = this.#asked > 0 ? now + this.#patience() : now;
    }
    this.version++;
    return true;
  }

  /**
   * Asks for the thread although nothing is missing: to know what stands before the held items. A
   * subscription may be on its way from where the client stood before, whose answer will be of no
   * use; so another one follows.
   */
  reread() {
    this.#needsThread = this.#dropped = true;
  }

  /** Tells that a connection has ended that may have had more to say. */
  lost() {
    // A rewind that brings items back says so right after the rewind itself. Nobody repeats that
    // to whoever stands behind the rewind.
    this.#needsThread ||= this.#rewound || this.#items.some((item) => this.#far(item));
  }

  /** Tells that a message came that could not be read. */
  missed(now) {
    this.#dropped = true;
    this.#askAt = now + this.#patience();
  }

  // Whether an item that may have grown stands so far behind that nobody is told all from there.
  #far(item) {
    return !item.final && this.#seq - item.seq >= MAX_BEHIND;
  }

  /**
   * Where to watch from: before whatever may have changed unnoticed. An item that is far behind
   * comes with what is told from there.
   */
  get cursor() {
    const open = this.#items.find((item) => !item.final && !this.#far(item));
    if (open) {
      // Asked from the item itself, one completed without deltas would be left out.
      const seq = open.offset > 0 ? open.seq : open.seq - 1;
      return formatCursor({ epoch: this.#epoch, seq, offset: Math.max(0, open.offset) });
    }
    const offset = Math.max(0, this.#at(this.#seq)?.offset ?? 0);
    return formatCursor({ epoch: this.#epoch, seq: this.#seq, offset });
  }

  /** When to watch anew from the cursor because something is missing; null while nothing is. */
  get repairAt() {
    if (this.#needsThread || this.#deleted) return null;
    const times = this.#held.map(({ due }) => due);
    if (this.#unsure()) times.push(this.#askAt);
    return times.length > 0 ? Math.min(...times) : null;
  }

  /** Tells that watching anew was asked for: what is missing has some time to come. */
  repairing(now) {
    this.#askAt = now + this.#patience();
    if (this.#held.length > 0 || this.#unsure()) this.#asked++;
    this.#dropped = false;
    for (const waiting of this.#held) waiting.due = this.#askAt;
  }

  /** What the session shows now; objects that have not changed stay the same. */
  show() {
    return {
      items: this.#items.map((item) => item.render()),
      status: this.#status,
      run_id: this.#runId,
      error: this.#error,
      epoch: this.#epoch,
      deleted: this.#deleted,
      has_older: this.#older !== null,
    };
  }

  #patience() {
    return HOLD * 2 ** Math.min(this.#asked, MOST_DOUBLINGS);
  }

  #unsure() {
    return this.#dropped || this.#items.some((item) => !item.final && item.offset === UNKNOWN);
  }

  #keep(m, now) {
    if (this.#held.length >= MOST_HELD) {
      this.#held = [];
      this.#dropped = true;
      this.#askAt = now;
    }
    const i = this.#held.findIndex((h) => compareCursors(m.cursor, h.m.cursor) < 0);
    this.#held.splice(i < 0 ? this.#held.length : i, 0, { m, due: now + this.#patience() });
  }

  #settle() {
    for (let before = -1; before !== this.#held.length;) {
      before = this.#held.length;
      this.#held = this.#held.filter(({ m }) => !this.#take(m));
    }
    if (this.#held.length === 0 && !this.#unsure()) this.#asked = 0;
  }

  // Applies a message, or finds that it tells nothing new; false means that it comes too early.
  #take(m) {
    if (this.#needsThread) return false;
    switch (m.type) {
      case 'item.snapshot':
        return this.#takeSnapshot(m);
      case 'item.delta':
        return this.#takeDelta(m);
      case 'item.completed':
      case 'item.failed': {
        const i = this.#find(m.cursor.seq, m.item.id);
        return i < 0 ? this.#isOver(m) : this.#replaceItem(i, m);
      }
      case 'thread.rewound':
        return this.#takeRewound(m);
      case 'thread.reload':
        this.#takeReload(m);
        return true;
      default: // thread.status, and types that a later server may know
        return this.#takeStatus(m);
    }
  }

  // How a message that covers positions stands to what is known: 'behind', 'next' or 'ahead'.
  #place({ cursor, prev }) {
    if (cursor.epoch !== this.#epoch) return cursor.epoch < this.#epoch ? 'behind' : 'ahead';
    if (prev.seq > this.#seq) return 'ahead';
    return cursor.seq <= this.#seq ? 'behind' : 'next';
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

  // The item that a message is about. The epoch does not matter: an item that is still shown after
  // a rewind ends as it would have without it.
  #find(seq, id) {
    const i = this.#index(seq);
    return i >= 0 && this.#items[i].id === id ? i : -1;
  }

  // Whether an item that is not there was hidden since, rather than not heard of yet.
  #isOver({ cursor }) {
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

  // Brings an item up to date in its place. Whatever stands behind it in the same epoch stays:
  // positions of a log never change, and what follows would only bring the same again.
  #takeSnapshot(m) {
    const i = this.#find(m.cursor.seq, m.item.id);
    if (i >= 0) return this.#replaceItem(i, m);
    const place = this.#place(m);
    if (place === 'next') {
      this.#items.push(new Item(m.item, m.cursor.offset));
      this.#seq = m.cursor.seq;
      this.version++;
    }
    return place !== 'ahead';
  }

  #takeDelta(m) {
    const i = this.#find(m.cursor.seq, m.item_id);
    if (i < 0) return this.#isOver(m);
    const became = this.#items[i].grow(m.delta, m.prev.offset, m.cursor.offset);
    if (became === 'changed') this.version++;
    return became !== 'ahead';
  }

  // Moves to the message's position, and takes its status unless a newer one is known: catching up
  // passes positions whose messages come later.
  #takeStatus(m) {
    const place = this.#place(m);
    if (place === 'ahead') return false;
    if (m.cursor.epoch < this.#epoch) return true;
    if (m.status && m.cursor.seq >= this.#statusSeq) this.#setStatus(m);
    if (place === 'next') this.#seq = m.cursor.seq;
    return true;
  }

  #setStatus({ status, run_id: run, error, cursor }) {
    const runId = status === 'idle' ? '' : (run ?? ''); // that of the run that ended says nothing
    if (status !== this.#status || runId !== this.#runId) this.version++;
    this.#status = status;
    this.#runId = runId;
    this.#error = status === 'failed' ? (error ?? null) : null;
    this.#statusSeq = cursor.seq;
  }

  // Drops what a rewind hides. A rewind meets no run and leaves no failure: the session is idle.
  #takeRewound(m) {
    const { epoch, seq } = m.cursor;
    if (epoch < this.#epoch || (epoch === this.#epoch && seq <= this.#seq)) return true;
    if (epoch > this.#epoch + 1 || m.prev.seq > this.#seq) return false;
    this.#items = this.#items.filter((item) => item.seq <= m.to_seq);
    if (this.#older !== null) this.#cut();
    this.#rewound ||= epoch > this.#epoch;
    this.#epoch = epoch;
    this.#seq = seq;
    this.#setStatus({ status: 'idle', cursor: m.cursor });
    this.version++;
    return true;
  }

  // A cursor from before a rewind is refused. What is held still stands, unless nothing is left.
  #cut() {
    this.#older = CUT;
    this.#needsThread ||= this.#items.length === 0;
  }

  // Asks for the thread, unless one was read that had what this is about.
  #takeReload(m) {
    const { cursor, prev } = m;
    if (m.reason === 'history_changed') {
      // To stand behind the end of the log means that it is another log.
      const another = cursor.epoch === prev.epoch && compareCursors(cursor, prev) < 0;
      if (!another && this.#threadEpoch >= cursor.epoch) return;
    } else if (m.reason === 'item_too_large') {
      const item = this.#at(cursor.seq);
      if (item ? item.final : this.#isOver(m)) return;
    } else if (this.#threadEpoch > cursor.epoch) {
      return;
    }
    this.#needsThread = true;
  }
}
