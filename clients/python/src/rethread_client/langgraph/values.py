"""Values of channels: what is stored of them, and what they are restored from.

A stored value is a JSON object with one of these members:

- `json`: the value itself.
- `bytes`: its type and its base64, as LangGraph's serializer returns them.
- `list`: a list in segments, each a range `[from, to]` of the list `of`, an item, or
  `{"shown": n}`: the messages of the n next events of the same append.
- `dict`: the values by name, if one of them is a list of messages.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from .._core.arguments import is_text
from .messages import content_of, fields_of, message_of, whole

Stored = dict[str, Any]

# JSON's numbers are exact up to here in every language.
_EXACT = 1 << 53


class Codec:
    """Serialises values. With a serializer of the caller's own, nothing is readable in the log."""

    def __init__(self, serde: SerializerProtocol) -> None:
        self.serde = serde
        self.readable: bool = isinstance(serde, JsonPlusSerializer)
        # Encryption gives the same value other bytes each time.
        self._plain = serde.serde if isinstance(serde, EncryptedSerializer) else serde

    def dump(self, value: Any) -> Stored:
        """Returns the stored form of a value that is no list."""
        if self.readable and is_plain(value):
            return {"json": value}
        kind, data = self.serde.dumps_typed(value)
        return {"bytes": [kind, base64.b64encode(data).decode()]}

    def load(self, stored: Stored) -> Any:
        """Returns the value of a stored form without segments."""
        if "json" in stored:
            return _copy(stored["json"])
        if "fields" in stored:
            return message_of(_copy(stored["fields"]), stored.get("content"))
        kind, data = stored["bytes"]
        return self.serde.loads_typed((kind, base64.b64decode(data)))

    def message(self, message: BaseMessage) -> Stored:
        """Returns the stored form of a message: `fields` if it restores the message, else `bytes`."""
        fields = fields_of(message)
        if fields is not None and is_plain(fields):
            content = content_of(message)
            restored = message_of(_copy(fields), content)
            if self._plain.dumps_typed(restored) == self._plain.dumps_typed(message):
                return {"fields": fields, "content": content}
        return self.dump(message)

    def fingerprint(self, value: Any) -> bytes:
        """Returns a hash that equal values share; the order of members does not count."""
        fields = fields_of(value) if isinstance(value, BaseMessage) else None
        if fields is not None and is_plain(fields):
            return _hash_of_json(whole(fields, content_of(value)))
        if is_plain(value):
            return _hash_of_json(value)
        kind, data = self._plain.dumps_typed(value)
        return _hash(kind.encode() + b"\0" + data)

    def fingerprint_of(self, stored: Stored) -> bytes:
        """Returns the fingerprint of the value that a stored form restores."""
        if "fields" in stored:
            return _hash_of_json(whole(stored["fields"], stored.get("content")))
        return _hash_of_json(stored["json"]) if "json" in stored else self.fingerprint(self.load(stored))


class Item:
    """An item of a list."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self._fingerprint: bytes | None = None

    def fingerprint(self, codec: Codec) -> bytes:
        """Returns the hash of the item's value."""
        if self._fingerprint is None:
            self._fingerprint = codec.fingerprint_of(self.stored)
        return self._fingerprint


# A range of the list that this one is built on, or items of its own.
Segment = tuple[int, int] | list[Item]


class Items:
    """A list in segments. The items of lists that build on each other are kept once."""

    def __init__(self, base: Items | None, segments: Sequence[Segment]) -> None:
        self.base = base
        self.segments = segments

    def all(self) -> list[Item]:
        """Returns the list's items."""
        chain: list[Items] = [self]
        while chain[-1].base is not None:
            chain.append(chain[-1].base)
        items: list[Item] = []
        for link in reversed(chain):
            items = link._build(items)
        return items

    def _build(self, base: list[Item]) -> list[Item]:
        first = self.segments[0] if self.segments else []
        if isinstance(first, tuple) and first == (0, len(base)):
            items, rest = base, self.segments[1:]  # nobody else has this copy
        else:
            items, rest = [], self.segments
        for segment in rest:
            items.extend(base[segment[0] : segment[1]] if isinstance(segment, tuple) else segment)
        return items


def differences(base: list[bytes], new: list[bytes]) -> Iterator[tuple[int, int] | int]:
    """Yields ranges of base that make up new, and the indexes in new of items that base lacks."""
    places: dict[bytes, int] = {}
    for place, fingerprint in enumerate(base):
        places.setdefault(fingerprint, place)
    at = 0
    while at < len(new):
        same = at < len(base) and base[at] == new[at]
        start = at if same else places.get(new[at])
        if start is None:
            yield at
            at += 1
            continue
        end = start
        while end < len(base) and at < len(new) and base[end] == new[at]:
            end, at = end + 1, at + 1
        yield (start, end)


def is_plain(value: object) -> bool:
    """Whether JSON restores a value exactly, types included."""
    if value is None or type(value) is bool:
        return True
    if type(value) is str:
        return is_text(value)
    if type(value) is int:
        return -_EXACT <= value <= _EXACT
    if type(value) is float:
        return math.isfinite(value) and not value.is_integer()
    if type(value) is list:
        return all(map(is_plain, cast("list[Any]", value)))
    return type(value) is dict and all(
        type(k) is str and is_plain(k) and is_plain(v) for k, v in cast("dict[Any, Any]", value).items()
    )


def _hash_of_json(value: Any) -> bytes:
    return _hash(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _copy(value: Any) -> Any:
    """Copies JSON, because callers change what they get."""
    if isinstance(value, dict):
        return {name: _copy(member) for name, member in cast("dict[str, Any]", value).items()}
    return [_copy(member) for member in cast("list[Any]", value)] if isinstance(value, list) else value
