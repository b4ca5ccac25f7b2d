"""Values of a session's state that may be large, such as a graph's, whose task may hold photos.

The state of a session has room for 256 KB. So the large texts of a value are versions of an artifact,
and so is the rest if it is large too. In the state, `{"rethread_text": ref}` stands for a text, and
`{"rethread_json": ref, "refs": [ref, …]}` for a value, with the texts in it. A ref has the versions that
are the parts of the text, and its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from .._core.storable import escaped
from .._sync.client import Rethread

_TEXT, _JSON, _REFS = "rethread_text", "rethread_json", "refs"

# The longest text that stays in a value, and the longest JSON of one, in characters.
_LONGEST_TEXT = 8 << 10
_LONGEST_VALUE = 32 << 10

# The bytes of a version, which fit into a request also if they do not compress.
_PIECE = 4_000_000

Ref = dict[str, Any]


class Large:
    """The artifact with the large texts of a key of a session's state."""

    def __init__(self, client: Rethread, session_id: str, key: str) -> None:
        self._client = client
        self._session = session_id
        self._name = escaped(key.replace("/", "-", 1))

    def parted(self, value: Any, stored: Callable[[], Any]) -> tuple[Any, dict[str, int]]:
        """Stores the large texts of a value.

        Args:
          stored: returns what the state has now, whose texts are not stored again.

        Returns:
          The value to store, and the artifact delta of the event that stores it, by which rewinds,
          forks and copies of the session keep the texts.
        """
        used: dict[str, Ref] = {}
        known: dict[str, Ref] = {}

        def part(text: str) -> Ref:
            data = text.encode()
            name = hashlib.sha256(data).hexdigest()
            if not used:
                known.update({ref["sha256"]: ref for ref in _refs(stored())})
            if name not in used:
                used[name] = known.get(name) or {"sha256": name, "versions": self._put(data)}
            return used[name]

        small = _replaced(value, part)
        rest = json.dumps(small, ensure_ascii=False)
        if len(rest) > _LONGEST_VALUE:
            texts = list(used.values())
            small = {_JSON: part(rest), _REFS: texts}
        versions = [version for ref in used.values() for version in ref["versions"]]
        return small, {self._name: max(versions)} if versions else {}

    def whole(self, stored: Any) -> Any:
        """Returns the value that was stored, with its large texts."""
        if isinstance(stored, dict) and _JSON in stored:
            stored = json.loads(self._get(cast("Any", stored)[_JSON]))
        return _restored(stored, self._get)

    def _put(self, data: bytes) -> list[int]:
        pieces = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)]
        return [self._client.artifacts.put(self._session, self._name, piece)["version"] for piece in pieces]

    def _get(self, ref: Ref) -> str:
        read = self._client.artifacts.get
        pieces = [read(self._session, self._name, version=version) for version in ref["versions"]]
        return b"".join(piece.content for piece in pieces).decode()


def _replaced(value: Any, part: Callable[[str], Ref]) -> Any:
    if isinstance(value, str):
        return {_TEXT: part(value)} if len(value) > _LONGEST_TEXT else value
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {name: _replaced(member, part) for name, member in members.items()}
    return (
        [_replaced(entry, part) for entry in cast("list[Any]", value)] if isinstance(value, list) else value
    )


def _restored(value: Any, read: Callable[[Ref], str]) -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if list(members) == [_TEXT]:
            return read(members[_TEXT])
        return {name: _restored(member, read) for name, member in members.items()}
    return (
        [_restored(entry, read) for entry in cast("list[Any]", value)] if isinstance(value, list) else value
    )


def _refs(value: Any) -> Iterator[Ref]:
    """Yields the refs in a value as it is stored."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if list(members) == [_TEXT]:
            yield members[_TEXT]
        yield from members[_REFS] if _JSON in members else ()
        value = list(members.values())
    if isinstance(value, list):
        for entry in cast("list[Any]", value):
            yield from _refs(entry)
