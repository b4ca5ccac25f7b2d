"""Events that a framework's session appends, and what they show to other clients."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..types import EventRequest
from .storable import storable

# Events of one append.
BATCH = 100

# Members that the server adds to an event.
_ADDED = frozenset({"seq", "session_id", "status", "created_time"})


class Turn:
    """The invocation that a session's object appends to. Its events have the ids
    `<invocation_id>.<n>`, by which the server recognises them when they are sent again."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begins another invocation."""
        self.invocation_id: str = str(uuid.uuid4())
        self._n = 0

    def event(self, author: str, text: str = "", *, role: str = "", **members: Any) -> EventRequest:
        """Returns the next event of the invocation; without text it has no content."""
        self._n += 1
        content: dict[str, Any] | None = None
        if text:
            content = {"role": role or author, "parts": [{"text": text}]}
        event = {
            "id": f"{self.invocation_id}.{self._n}",
            "invocation_id": self.invocation_id,
            "author": author,
            "content": content,
            **members,
        }
        return cast("EventRequest", storable(event))


def again(events: Sequence[Mapping[str, Any]]) -> list[EventRequest]:
    """Returns events to append once more, in invocations of their own that group them as before."""
    turns: dict[str, Turn] = {}
    copies: list[EventRequest] = []
    for event in events:
        turn = turns.setdefault(event["invocation_id"], Turn())
        members = {key: value for key, value in event.items() if key not in _ADDED}
        copies.append(cast("EventRequest", {**members, **_names(turn)}))
    return copies


def _names(turn: Turn) -> dict[str, Any]:
    event = turn.event("")
    return {"id": event.get("id"), "invocation_id": turn.invocation_id}


def text_of(event: Mapping[str, Any]) -> str:
    """Returns the text that an event shows, without thoughts."""
    content = cast("dict[str, Any]", event.get("content") or {})
    parts = cast("list[dict[str, Any]]", content.get("parts") or [])
    return "".join(part.get("text", "") for part in parts if not part.get("thought"))


def is_users(event: Mapping[str, Any]) -> bool:
    """Whether an event of another client is of the user."""
    content = cast("dict[str, Any]", event.get("content") or {})
    return event.get("author") == "user" or content.get("role") == "user"
