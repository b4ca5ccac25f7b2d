"""What a watcher has, so that it is shown each message once, over any number of connections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..messages import WatchMessage
from ..types import Thread


class Cursor(NamedTuple):
    """A watcher's position, `epoch.seq.offset`."""

    epoch: int
    seq: int
    offset: int

    @classmethod
    def parse(cls, text: object) -> Cursor | None:
        """Returns a cursor; None if the text is none."""
        parts = text.split(".") if isinstance(text, str) else []
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
            return None
        return cls(*map(int, parts))


@dataclass
class _Item:
    seq: int
    final: bool
    offset: int


@dataclass
class Position:
    """Tells new messages from repeated ones.

    The server sends messages in order. While an item in progress is overtaken by later
    ones, `id` stays at that item, so a reconnecting watcher gets the later ones again.
    """

    id: str | None = None
    _epoch: int = 0
    _at: int = 0
    _items: dict[str, _Item] = field(default_factory=dict[str, _Item])
    _status: tuple[int, str] | None = None
    _queue: int = 0

    def take(self, event_id: str | None, message: WatchMessage) -> bool:
        """Whether a message is new. Its event's id is where to continue."""
        new = self._is_new(message)
        if event_id:
            self.id = event_id
            self._forget()
        return new

    def restart(self, thread: Thread) -> None:
        """Takes a thread, which replaces everything. There is no id until the next message."""
        at = Cursor.parse(thread["cursor"]) or Cursor(0, 0, 0)
        self.id, self._epoch, self._at = None, at.epoch, at.seq
        self._status, self._queue = None, max(self._queue, thread.get("queue_version", 0))
        self._items = {}
        for item in thread["items"]:
            final = item["status"] != "in_progress"
            self._at = max(self._at, item["seq"])
            if not final or item["seq"] >= at.seq:
                offset = thread.get("offsets", {}).get(item["id"], 0)
                self._items[item["id"]] = _Item(item["seq"], final, offset)

    def _is_new(self, message: WatchMessage) -> bool:
        kind = message.get("type", "")
        cursor = Cursor.parse(message.get("cursor"))
        if kind == "thread.queue":
            version = message.get("queue_version", 0)
            new, self._queue = version > self._queue, max(version, self._queue)
            return new
        if cursor is None or kind in ("thread.reload", "thread.deleted"):
            return True
        if kind.startswith("item."):
            return self._item(kind, cursor, message)
        if kind == "thread.rewound":
            return self._rewound(cursor, message)
        if kind == "thread.status":
            return self._is_new_status(cursor, message)
        # A type of a newer version moves the position as a status does.
        new = cursor[:2] > (self._epoch, self._at)
        self._move(cursor)
        return new

    def _item(self, kind: str, cursor: Cursor, message: WatchMessage) -> bool:
        item = message.get("item")
        name = str(message.get("item_id") or (item or {}).get("id") or "")
        known = self._items.get(name)
        final = kind in ("item.completed", "item.failed") or (
            kind == "item.snapshot" and item is not None and item.get("status") != "in_progress"
        )
        if known is not None and (known.final or (not final and cursor.offset <= known.offset)):
            return False
        self._items[name] = _Item(cursor.seq, final, cursor.offset)
        self._move(cursor)
        return True

    def _rewound(self, cursor: Cursor, message: WatchMessage) -> bool:
        if cursor.epoch <= self._epoch:
            return False
        to = message.get("to_seq", 0)
        self._items = {name: item for name, item in self._items.items() if item.seq <= to}
        self._move(cursor)
        return True

    def _is_new_status(self, cursor: Cursor, message: WatchMessage) -> bool:
        status = message.get("status", "")
        if self._status is None:
            repeated = cursor[:2] < (self._epoch, self._at)
        else:
            repeated = cursor.seq < self._status[0] or (cursor.seq, status) == self._status
        if not repeated:
            self._status = (cursor.seq, status)
            self._move(cursor)
        return not repeated

    def _move(self, cursor: Cursor) -> None:
        self._epoch = max(self._epoch, cursor.epoch)
        self._at = max(self._at, cursor.seq)

    def _forget(self) -> None:
        """Forgets items that no connection repeats: final ones before the position to continue from."""
        at = Cursor.parse(self.id)
        if at is None or len(self._items) < 2:
            return
        self._items = {n: item for n, item in self._items.items() if item.seq >= at.seq or not item.final}
