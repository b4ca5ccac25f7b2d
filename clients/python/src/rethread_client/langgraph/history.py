"""A thread's history, as the log of its session has it.

Each event continues the one that was the newest shown when it was appended; a rewind makes an
earlier one the newest again. So the events form a tree, and what the session shows is the path
to its newest event. Checkpoints of other paths are in the history too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .records import Checkpoint, Reader, Writes
from .values import Codec, Items, Stored

# The member of an event that belongs to savers.
MEMBER = "langgraph"

Key = tuple[str, str]  # namespace and id of a checkpoint


@dataclass(frozen=True)
class Node:
    """An event. `tips` has the newest checkpoint of each namespace on the path to it."""

    event: dict[str, Any]
    before: Node | None
    tips: Mapping[str, Checkpoint]


class History:
    """The events of a session's log, in their order."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self.head: int = 0
        self.last_id: str = ""
        self.newest: Node | None = None
        self.checkpoints: dict[Key, Checkpoint] = {}
        # Deleted checkpoints, from which channels that store only changes are restored.
        self.deleted: dict[Key, Checkpoint] = {}
        self.writes: dict[Key, Writes] = {}
        self.invocations: dict[str, Node | None] = {}  # what was the newest before their first event
        self._places: dict[Key, Node] = {}
        self._ours: dict[str | None, None] = {}  # the invocations of savers, in their order
        self._shown: list[Stored] = []

    @property
    def _invocation(self) -> str | None:
        return self.newest.event["invocation_id"] if self.newest else None

    @property
    def invocation(self) -> str | None:
        """The newest invocation that the session shows, if a saver began it."""
        return self._invocation if self._invocation in self._ours else None

    @property
    def tips(self) -> Mapping[str, Checkpoint]:
        """The newest checkpoint of each namespace that the session shows."""
        return self.newest.tips if self.newest else {}

    def list_of(self, namespace: str, name: str) -> Items | None:
        """Returns the newest list of a channel that the session shows."""
        tip = self.tips.get(namespace)
        value = tip.values.get(name) if tip else None
        return value if isinstance(value, Items) else None

    def latest(self, namespace: str) -> Checkpoint | None:
        """Returns a namespace's newest checkpoint.

        A namespace with a task's id belongs to one checkpoint of the graph above it, so it is
        also found if the session does not show that checkpoint.
        """
        tip = self.tips.get(namespace)
        if tip is None and ":" not in namespace:
            return None
        if tip is not None and (namespace, tip.id) in self.checkpoints:
            return tip
        left = [record for (ns, _), record in self.checkpoints.items() if ns == namespace]
        if tip is not None:  # it was deleted
            left = [record for record in left if record.id < tip.id]
        return max(left, key=lambda record: record.id, default=None)

    def add(self, event: dict[str, Any]) -> None:
        """Adds the next event of the log."""
        invocation = event["invocation_id"]
        self.invocations.setdefault(invocation, self.newest)
        self.head, self.last_id = event["seq"], event["id"]
        if event.get("author", "system") == "system":  # a marker, or a position of the server's own
            actions: dict[str, Any] = event.get("actions") or {}
            back = actions.get("rewind_before_invocation_id")
            if start := actions.get("rewind_before_seq"):  # the input of a run that is discarded
                while self.newest is not None and self.newest.event["seq"] >= start:
                    self.newest = self.newest.before
            elif back:
                self.newest = self.invocations.get(back)
            self._shown.clear()
            return
        tips, key = self.tips, None
        ours = event.get(MEMBER)
        if isinstance(ours, dict):
            self._ours.setdefault(invocation)
            stored = cast("dict[str, Any]", ours)
            if "checkpoint" in stored:
                record = self._checkpoint(stored["checkpoint"], invocation)
                tips, key = {**tips, record.namespace: record}, (record.namespace, record.id)
            else:
                self._apply(stored, event)
        self.newest = Node(event, self.newest, tips)
        if key is not None:
            self._places[key] = self.newest

    def boundary(self, checkpoint: Checkpoint | None) -> str | None:
        """Returns the invocation before which to rewind so that a checkpoint is the newest.

        If there is none, it is the checkpoint's own invocation: `missing` returns what must then
        be appended again. None for the beginning means that nothing is to be rewound.
        """
        if checkpoint is None:
            return next(iter(self._ours), None)
        for invocation, before in reversed(self.invocations.items()):
            tip = before.tips.get("") if before else None
            if tip is not None and tip.id == checkpoint.id:
                return invocation
        return checkpoint.invocation

    def spoken(self) -> bool:
        """Whether the newest invocation has a message so far."""
        node = self.newest
        while node is not None and node.event["invocation_id"] == self._invocation:
            if node.event.get("content"):
                return True
            node = node.before
        return False

    def missing(self, checkpoint: Checkpoint) -> list[dict[str, Any]]:
        """Returns the events that lead from the newest one to a checkpoint of the same invocation."""
        events: list[dict[str, Any]] = []
        node: Node | None = self._places["", checkpoint.id]
        while node is not None and node is not self.newest:
            events.append(node.event)
            node = node.before
        return events[::-1]

    def _checkpoint(self, stored: Stored, invocation: str) -> Checkpoint:
        namespace = stored["ns"]
        reader = Reader(self._codec, self.list_of, self._shown)
        values = dict(self.tips[namespace].values) if stored["builds"] else {}
        for name, value in stored["values"].items():
            values[name] = None if value is None else reader.value(value)
        self._shown.clear()
        body = stored["body"]
        versions = self._codec.load(body)["channel_versions"]
        record = Checkpoint(
            namespace,
            stored["id"],
            stored["parent"],
            invocation,
            body,
            stored["metadata"],
            {name: values[name] for name in versions if values.get(name) is not None},
            versions,
        )
        self.checkpoints[namespace, record.id] = record
        self.deleted.pop((namespace, record.id), None)
        return record

    def _apply(self, ours: dict[str, Any], event: dict[str, Any]) -> None:
        if "writes" in ours:
            reader = Reader(self._codec, self.list_of, [])
            writes = self.writes.setdefault((ours["ns"], ours["of"]), Writes())
            for index, channel, stored in ours["writes"]:
                writes.add(ours["task"], ours["path"], index, channel, reader.value(stored))
        elif "forget" in ours:
            for namespace, id_ in ours["forget"]:
                record = self.checkpoints.pop((namespace, id_), None)
                if record is not None:
                    self.deleted[namespace, id_] = record
        elif "fields" in ours or "bytes" in ours:
            self._shown.append({**ours, "content": event.get("content")})
