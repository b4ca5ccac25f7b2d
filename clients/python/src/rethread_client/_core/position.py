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

    def __str__(self) -> str:
        return f"{self.epoch}.{self.seq}.{self.offset}"


@dataclass
class _Item:
    seq: int
    final: bool
    offset: int


@dataclass
class Position:
    """Tells new messages from repeated ones.

    The server sends messages in order. While an item in progress is overtaken by later
    ones, a watcher that reconnects continues from that item, and gets the later ones again.

    Attributes:
      id: the newest id of an event, where to continue; None if there was none yet.
    """

    id: str | None = None
    _begin: str | None = None
    _at: Cursor = field(default_factory=lambda: Cursor(0, 0, 0))  # up to which everything is known
    _items: dict[str, _Item] = field(default_factory=dict[str, _Item])
    _status: tuple[int, str] | None = None
    _queue: int = 0

    def take(self, event_id: str | None, message: WatchMessage) -> bool:
        """Whether a message is new. Its event's id, if it has one, is where to continue."""
        new = self._is_new(message)
        if event_id:
            self.id = event_id
        if new:
            self._begin = None
            self._forget()
        return new

    def restart(self, thread: Thread) -> None:
        """Takes a thread, which replaces everything. There is no id until the next message."""
        self.id, self._begin = None, thread["cursor"]
        self._at = Cursor.parse(thread["cursor"]) or Cursor(0, 0, 0)
        begin = self._at.seq
        self._status, self._queue = None, max(self._queue, thread.get("queue_version", 0))
        self._items = {}
        for item in thread["items"]:
            final = item["status"] != "in_progress"
            self._move(Cursor(self._at.epoch, item["seq"], 0))
            if not final or item["seq"] >= begin:
                offset = thread.get("offsets", {}).get(item["id"], 0)
                self._items[item["id"]] = _Item(item["seq"], final, offset)

    @property
    def cursor(self) -> str | None:
        """The position to continue from, without an id; None if nothing is known yet."""
        if self._begin is not None:
            return self._begin
        growing = [item for item in self._items.values() if not item.final]
        if growing:
            item = min(growing, key=lambda item: item.seq)
            if item.offset == 0:
                return str(Cursor(self._at.epoch, item.seq - 1, 0))
            return str(Cursor(self._at.epoch, item.seq, item.offset))
        return str(self._at) if self._at > Cursor(0, 0, 0) else None

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
        new = cursor[:2] > self._at[:2]
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
        if cursor.epoch <= self._at.epoch:
            return False
        to = message.get("to_seq", 0)
        self._items = {name: item for name, item in self._items.items() if item.seq <= to}
        self._move(cursor)
        return True

    def _is_new_status(self, cursor: Cursor, message: WatchMessage) -> bool:
        status = message.get("status", "")
        if self._status is None:
            repeated = cursor[:2] < self._at[:2]
        else:
            repeated = cursor.seq < self._status[0] or (cursor.seq, status) == self._status
        if not repeated:
            self._status = (cursor.seq, status)
            self._move(cursor)
        return not repeated

    def _move(self, cursor: Cursor) -> None:
        self._at = max(self._at, cursor)

    def _forget(self) -> None:
        """Forgets items that no connection repeats: final ones before the position to continue from."""
        begin = Cursor.parse(self.id or self.cursor)
        if begin is not None:
            self._items = {n: i for n, i in self._items.items() if i.seq >= begin.seq or not i.final}
