"""Checkpoints and pending writes as they are read from events, and how their values are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard, cast

from langchain_core.messages import BaseMessage

from .messages import well_formed
from .values import Codec, Item, Items, Segment, Stored, differences


class Members(dict[str, Any]):
    """A dictionary with a list of messages in it."""


# A value: a list in segments, a dictionary of values, or a stored form.
Value = Items | Members | Stored


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint. `values` has its channels, those of earlier checkpoints included."""

    namespace: str
    id: str
    parent: str | None
    invocation: str
    body: Stored
    metadata: Stored
    values: Mapping[str, Any]
    versions: Mapping[str, Any]


@dataclass
class Writes:
    """The pending writes of a checkpoint, by task and index."""

    by_index: dict[tuple[str, int], tuple[str, str, Any]] = field(
        default_factory=dict[tuple[str, int], tuple[str, str, Any]]
    )

    def add(self, task: str, path: str, index: int, channel: str, value: Any) -> None:
        """Adds a write: of equal ones the first counts, of errors and interrupts the last."""
        if index < 0 or (task, index) not in self.by_index:
            self.by_index[task, index] = (path, channel, value)

    def ordered(self) -> Iterable[tuple[str, int, str, str, Any]]:
        """Returns task, index, path, channel and value in the order in which a step applies them."""
        keys = sorted(self.by_index, key=lambda key: (self.by_index[key][0], *key))
        return [(*key, *self.by_index[key]) for key in keys]


# Finds the list that segments of a channel's list refer to, by namespace and channel.
Lists = Callable[[str, str], Items | None]


class Writer:
    """Makes the stored forms of one append's values."""

    def __init__(self, codec: Codec, lists: Lists, namespace: str) -> None:
        self._codec = codec
        self._lists = lists
        self._namespaces = dict.fromkeys((namespace, ""))
        self.shown: list[tuple[BaseMessage, Stored]] = []

    def value(self, name: str, value: Any, show: int = 0) -> Stored:
        """Returns the stored form of a value.

        Args:
          name: the channel, or the member of a dictionary.
          show: the messages that may become events of their own. The last ones do.
        """
        if _has_items(value):
            return self._list(name, value, show)
        if type(value) is dict:
            members = cast("dict[Any, Any]", value)
            named = all(type(key) is str for key in members)
            if named and any(_has_messages(member) for member in members.values()):
                return {"dict": {key: self.value(key, member) for key, member in members.items()}}
        return self._codec.dump(value)

    def _list(self, name: str, value: list[Any], show: int) -> Stored:
        value = [well_formed(item) if isinstance(item, BaseMessage) else item for item in value]
        new = [self._codec.fingerprint(item) for item in value]
        namespace, base = self._base(name, new)
        parts = list(differences(base, new))
        shown = [at for at in parts if isinstance(at, int) and self._can_show(value[at])]
        shown = shown[-show:] if show else []
        segments: list[Any] = []
        for part in parts:
            if isinstance(part, tuple):
                segments.append(list(part))
            elif part in shown:
                self._show(value[part], segments)
            else:
                segments.append(self._item(value[part]))
        return {"list": segments, **({"of": [namespace, name]} if base else {})}

    def _base(self, name: str, new: list[bytes]) -> tuple[str, list[bytes]]:
        """Returns the known list that has most of the new one's items."""
        best: tuple[int, str, list[bytes]] = (0, "", [])
        wanted = set(new)
        for namespace in self._namespaces:
            known = self._lists(namespace, name)
            if known is not None:
                base = [item.fingerprint(self._codec) for item in known.all()]
                same = len(wanted.intersection(base))
                best = max(best, (same, namespace, base), key=lambda option: option[0])
        return best[1:]

    def _can_show(self, item: Any) -> bool:
        return self._codec.readable and isinstance(item, BaseMessage) and item.type in ("human", "ai", "tool")

    def _show(self, message: BaseMessage, segments: list[Any]) -> None:
        self.shown.append((message, self._codec.message(message)))
        if segments and isinstance(segments[-1], dict) and "shown" in segments[-1]:
            segments[-1]["shown"] += 1
        else:
            segments.append({"shown": 1})

    def _item(self, item: Any) -> Stored:
        if self._codec.readable and isinstance(item, BaseMessage):
            return self._codec.message(item)
        return self._codec.dump(item)


class Reader:
    """Restores what a Writer has stored. It reads the events of an append in their order."""

    def __init__(self, codec: Codec, lists: Lists, shown: list[Stored]) -> None:
        self._codec = codec
        self._lists = lists
        self._shown = shown

    def value(self, stored: Stored) -> Any:
        """Returns a value, whose items are decoded when they are needed."""
        if "dict" in stored:
            return Members({name: self.value(member) for name, member in stored["dict"].items()})
        if "list" not in stored:
            return stored
        base = self._lists(*stored["of"]) if "of" in stored else None
        segments: list[Segment] = []
        for part in stored["list"]:
            if isinstance(part, list):
                bounds = cast("list[int]", part)
                segments.append((bounds[0], bounds[1]))
            elif "shown" in part:
                segments.append([Item(self._shown.pop(0)) for _ in range(part["shown"])])
            else:
                segments.append([Item(part)])
        return Items(base, segments)


def loaded(codec: Codec, value: Any) -> Any:
    """Returns a copy of a value for a caller."""
    if isinstance(value, Items):
        return [codec.load(item.stored) for item in value.all()]
    if isinstance(value, Members):
        return {name: loaded(codec, member) for name, member in value.items()}
    return codec.load(value)


def _has_items(value: object) -> TypeGuard[list[Any]]:
    return type(value) is list and value != []


def _has_messages(value: Any) -> bool:
    return type(value) is list and any(isinstance(item, BaseMessage) for item in cast("list[Any]", value))
