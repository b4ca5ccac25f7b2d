"""Converts ADK's events to events of Rethread's log and back."""

from __future__ import annotations

import base64
from typing import Any, cast

from google.adk.events.event import Event
from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import to_jsonable_python

from .._core.storable import storable

# Entries that only view=all shows: they reserve positions of the log, and are not
# events of the conversation.
_HIDDEN = frozenset({"task", "run"})


def to_json(event: Event) -> dict[str, Any]:
    """Returns the JSON form of an event, without members that have their default."""
    raw = event.model_dump(mode="python", exclude_defaults=True)
    # Always sent. An event without an invocation becomes its own.
    raw |= {"id": event.id, "invocation_id": event.invocation_id or event.id, "author": event.author}
    sent: dict[str, Any] = jsonable(raw)
    return sent


def jsonable(value: Any) -> Any:
    """Returns a value as JSON that can be stored. Values without a JSON form become strings, as in ADK."""
    return storable(to_jsonable_python(_encoded(value), fallback=str))


def _encoded(value: Any) -> Any:
    """Encodes bytes as standard base64, because Go does not read the URL-safe form
    that pydantic writes."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {storable(name): _encoded(v) for name, v in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(v) for v in cast("list[Any]", value)]
    return value


def from_json(raw: dict[str, Any]) -> Event:
    """Converts an event of the log, which any client may have written. Members
    unknown to ADK are left out.

    Raises:
      ValidationError: a member known to ADK has an invalid value.
    """
    known = {"timestamp": raw["created_time"] / 1000}
    known |= {name: value for name, value in raw.items() if name in Event.model_fields}
    if failure := raw.get("error"):
        message = cast("dict[str, Any]", failure).get("message") if isinstance(failure, dict) else failure
        known.setdefault("error_message", str(message))
    while True:
        try:
            return Event.model_validate(known)
        except ValidationError as error:
            unknown = [e["loc"] for e in error.errors(include_url=False) if e["type"] == "extra_forbidden"]
            if not unknown:
                raise
            for where in unknown:
                _remove(known, where)


def _remove(raw: Any, where: tuple[int | str, ...]) -> None:
    for step in where[:-1]:
        # Errors name members in camel case, whatever case they have.
        if isinstance(step, str) and step not in raw:
            step = to_snake(step)
        raw = raw[step]
    del raw[where[-1]]


def is_hidden(raw: dict[str, Any]) -> bool:
    """Whether an entry of view=all is not an event of the conversation."""
    return raw.get("type") in _HIDDEN


def is_shown(raw: dict[str, Any]) -> bool:
    """Whether an effective entry is an event in ADK. Events in progress are not, nor is
    the initial state, which unlike ADK's own events has no timestamp."""
    initial = raw["seq"] == 1 and raw["author"] == "system" and raw.get("content") is None
    initial = initial and raw.get("timestamp") is None
    return not initial and raw["status"] != "in_progress"
