// A client's copy of one session and the rules by which messages change it, without connections and
// clocks. It accepts messages in any order, duplicates included, and equals GET thread once each has
// arrived at least once. If one is missing it says so, with the cursor to subscribe from again.
//
// It may hold only the end of a session: everything from some item on. Messages about earlier items
// are ignored, since a later read returns those items in their current form.

import { compareCursors, formatCursor, parseCursor } from './cursor.js';
import { Item, UNKNOWN } from './item.js';
import { Items } from './items.js';
import type { ThreadData, WatchedItem, WatchedSession, WatchMessage } from './message.js';
import { type Parsed, parsed } from './parsed.js';
import { Queue } from './queue.js';
import { Repairs } from './repairs.js';
import { Status } from './status.js';

const MAX_BEHIND = 100; // positions up to which the server sends what a watcher has missed

/** Takes the place of a cursor to older items that a rewind has invalidated. */
export const STALE = '';

export class WatchState {
  #epoch = 0;
  #seq = 0; // the log is known up to here, from the first held item on
  #items = new Items();
  #older: string | null = null; // cursor to the items before these; null if there are none
  #status = new Status();
  #queue = new Queue();
  #threadEpoch = 0; // of the last thread
  #rewound = false; // since the last thread
  #needsThread = true;
  #deleted = false;
  #repairs = new Repairs(() => this.#hasUnknown());

  /** Number of changes of the session. */
  version = 0;

  /** Whether the thread must be read and passed to `replace`. Until then messages are held. */
  get needsThread(): boolean {
    return this.#needsThread && !this.#deleted;
  }

  /** Whether the session was deleted; no further messages apply. */
  get deleted(): boolean {
    return this.#deleted;
  }

  /** Applies a message. Returns whether the session changed. */
  apply(message: WatchMessage, now: number): boolean {
    const before = this.version;
    if (this.#deleted) return false;
    const m = parsed(message);
    if (m.type === 'thread.deleted') {
      this.#deleted = true;
      this.#repairs.clear();
      this.#queue = new Queue();
      this.version++;
    } else if (this.#tryApply(m)) {
      this.#applyHeld();
    } else {
      this.#repairs.hold(m, now);
    }
    return this.version !== before;
  }

  /** Number of held items. */
  get size(): number {
    return this.#items.size;
  }

  /** Cursor to the items before those held, or STALE; null if there are none. */
  get older(): string | null {
    return this.#older;
  }

  /**
   * Replaces the session by a thread that was read after `needsThread` was true: all pages, oldest
   * items first, or one page with its end and `older`, the cursor to the items before.
   */
  replace(pages: ThreadData[], now: number, older: string | null = null): void {
    const last = pages.at(-1);
    if (!last) return;
    const { status, run, cursor } = last;
    const at = parseCursor(cursor);
    this.#epoch = at.epoch;
    // The cursor may be of an item in progress before the last.
    this.#seq = Math.max(at.seq, last.items.at(-1)?.seq ?? 0);
    this.#items = new Items(
      pages.flatMap(({ items, offsets }) =>
        items.map(
          (event) =>
            new Item(event, offsets?.[event.id] ?? (event.seq === at.seq ? at.offset : UNKNOWN)),
        ),
      ),
    );
    this.#older = older;
    this.#status = new Status(status, run, this.#seq);
    for (const page of pages) this.#queue.take(page);
    this.#threadEpoch = at.epoch;
    this.#rewound = this.#needsThread = false;
    this.#repairs.check(now);
    this.version++;
    this.#applyHeld();
  }

  /**
   * Adds the items before those held, oldest first, with the cursor to the items before them.
   * Returns false and changes nothing if `from`, the cursor they were read with, is not `older` any
   * more.
   */
  prepend(items: WatchedItem[], from: string, older: string | null, now: number): boolean {
    if (this.#needsThread || from === STALE || from !== this.#older) return false;
    this.#items.prepend(items.map((event) => new Item(event, UNKNOWN)));
    this.#older = older;
    if (items.some(({ status }) => status === 'in_progress')) this.#repairs.check(now);
    this.version++;
    return true;
  }

  /**
   * Requests the thread although nothing is missing, to get a new cursor to the older items. The
   * answer to a subscription already sent will not fit the new thread, so another one follows.
   */
  reread(): void {
    this.#needsThread = true;
    this.#repairs.lost();
  }

  /** Reports that a connection ended, on which messages may have been lost. */
  lost(): void {
    // A rewind that restores items is followed by a message for them, which is not repeated to a
    // watcher whose cursor is after the rewind.
    this.#needsThread ||= this.#rewound || this.#items.some((item) => this.#tooFarBehind(item));
  }

  /** Reports that a message arrived that could not be parsed. */
  missed(now: number): void {
    this.#repairs.missed(now);
  }

  // Whether an unfinished item is so far behind that the server does not send all messages from there.
  #tooFarBehind(item: Item): boolean {
    return !item.final && this.#seq - item.seq >= MAX_BEHIND;
  }

  /**
   * Position to subscribe from. Everything after it may have changed unnoticed. An item too far
   * behind is not waited for: the messages after this position include it.
   */
  get cursor(): string {
    const open = this.#items.first((item) => !item.final && !this.#tooFarBehind(item));
    if (open) {
      // From its own position, an item completed without deltas would be skipped.
      const seq = open.offset > 0 ? open.seq : open.seq - 1;
      return formatCursor({ epoch: this.#epoch, seq, offset: Math.max(0, open.offset) });
    }
    const offset = Math.max(0, this.#items.at(this.#seq)?.offset ?? 0);
    return formatCursor({ epoch: this.#epoch, seq: this.#seq, offset });
  }

  /** When to subscribe again from `cursor` because something is missing; null if nothing is. */
  get repairAt(): number | null {
    if (this.#needsThread || this.#deleted) return null;
    return this.#repairs.due;
  }

  /** Reports that the caller has subscribed again; each repair that does not help doubles the delay. */
  repairing(now: number): void {
    this.#repairs.began(now);
  }

  /** Returns the session; unchanged items stay the same objects. */
  show(): WatchedSession<WatchedItem> {
    return {
      items: this.#items.render(),
      ...this.#status.render(),
      queued: this.#queue.inputs,
      queue_version: this.#queue.version,
      epoch: this.#epoch,
      deleted: this.#deleted,
      has_older: this.#older !== null,
    };
  }

  // Whether it is unknown how many deltas an unfinished item has.
  #hasUnknown(): boolean {
    return this.#items.some((item) => !item.final && item.offset === UNKNOWN);
  }

  #applyHeld(): void {
    this.#repairs.retry((m) => this.#tryApply(m));
  }

  // Applies a message, or ignores it if the state includes it already. Returns false if earlier
  // messages are missing.
  #tryApply(m: Parsed): boolean {
    if (this.#needsThread) return false;
    switch (m.type) {
      case 'item.snapshot':
        return this.#applySnapshot(m);
      case 'item.delta':
        return this.#applyDelta(m);
      case 'item.completed':
      case 'item.failed': {
        const { item } = m;
        const held = item && this.#items.find(m.cursor.seq, item.id);
        return held ? this.#replaceItem(held, item, m) : this.#isStale(m);
      }
      case 'thread.rewound':
        return this.#applyRewound(m);
      case 'thread.queue':
        this.#applyQueue(m);
        return true;
      case 'thread.reload':
        this.#handleReload(m);
        return true;
      default: // thread.status, and types of a newer server
        return this.#applyStatus(m);
    }
  }

  // How the positions that a message covers relate to the state: 'known', 'next' or 'ahead'.
  #relation({ cursor, prev }: Parsed): 'known' | 'next' | 'ahead' {
    if (cursor.epoch !== this.#epoch) return cursor.epoch < this.#epoch ? 'known' : 'ahead';
    if (prev.seq > this.#seq) return 'ahead';
    return cursor.seq <= this.#seq ? 'known' : 'next';
  }

  // Whether an item that is not shown was hidden since; otherwise it has not been received yet.
  #isStale({ cursor }: Parsed): boolean {
    return cursor.epoch < this.#epoch || (cursor.epoch === this.#epoch && cursor.seq <= this.#seq);
  }

  #replaceItem(held: Item, event: WatchedItem, { cursor, until }: Parsed): true {
    const fresh = held.replacedBy(event, cursor.offset, until !== undefined);
    if (fresh !== held) {
      this.#items.put(fresh);
      this.version++;
    }
    return true;
  }

  // Updates an item in place or adds it. Later items of the same epoch stay: positions of a log never
  // change, so later messages would only repeat them.
  #applySnapshot(m: Parsed): boolean {
    const { item } = m;
    if (!item) return true; // unreadable
    const held = this.#items.find(m.cursor.seq, item.id);
    if (held) return this.#replaceItem(held, item, m);
    const relation = this.#relation(m);
    if (relation === 'next') {
      this.#items.add(new Item(item, m.cursor.offset));
      this.#seq = m.cursor.seq;
      this.version++;
    }
    return relation !== 'ahead';
  }

  #applyDelta(m: Parsed): boolean {
    const held = this.#items.find(m.cursor.seq, m.item_id);
    if (!held || !m.delta) return this.#isStale(m);
    const became = held.grow(m.delta, m.prev.offset, m.cursor.offset);
    if (became === 'changed') this.version++;
    return became !== 'ahead';
  }

  // Advances to the message's position, and sets the status unless a newer one is known: a catch-up
  // can pass positions whose messages arrive later.
  #applyStatus(m: Parsed): boolean {
    const relation = this.#relation(m);
    if (relation === 'ahead') return false;
    if (m.cursor.epoch < this.#epoch) return true;
    if (m.status && this.#status.take(m.status, m)) this.version++;
    if (relation === 'next') this.#seq = m.cursor.seq;
    return true;
  }

  // Applies a list of queued inputs. The newest version wins, irrespective of the positions of the
  // message. A list without inputs requires the thread.
  #applyQueue(m: Parsed): void {
    if (!m.truncated) {
      if (this.#queue.take(m)) this.version++;
    } else if ((m.queue_version ?? 0) > this.#queue.version) {
      this.#needsThread = true;
    }
  }

  // Removes the items that a rewind hides. After a rewind the session is idle: it requires that no run
  // is active, and it hides a failed one.
  #applyRewound(m: Parsed): boolean {
    const { epoch, seq } = m.cursor;
    if (epoch < this.#epoch || (epoch === this.#epoch && seq <= this.#seq)) return true;
    if (epoch > this.#epoch + 1 || m.prev.seq > this.#seq) return false;
    const { to_seq: to = 0 } = m;
    this.#items.removeAfter(to);
    if (this.#older !== null) this.#invalidateOlder();
    this.#rewound ||= epoch > this.#epoch;
    this.#epoch = epoch;
    this.#seq = seq;
    this.#status = new Status('idle', null, seq);
    this.version++;
    return true;
  }

  // The server rejects a cursor from before a rewind. The held items remain valid; without any, the
  // thread is needed.
  #invalidateOlder(): void {
    this.#older = STALE;
    this.#needsThread ||= this.#items.size === 0;
  }

  // Requests the thread, unless the last one read includes the reason of the message.
  #handleReload(m: Parsed): void {
    const { cursor, prev } = m;
    if (m.reason === 'history_changed') {
      // A position after the end of the log means that the session was recreated.
      const another = cursor.epoch === prev.epoch && compareCursors(cursor, prev) < 0;
      if (!another && this.#threadEpoch >= cursor.epoch) return;
      if (another) this.#queue = new Queue(); // its versions begin again
    } else if (m.reason === 'item_too_large') {
      const item = this.#items.at(cursor.seq);
      if (item ? item.final : this.#isStale(m)) return;
    } else if (this.#threadEpoch > cursor.epoch) {
      return;
    }
    this.#needsThread = true;
  }
}
