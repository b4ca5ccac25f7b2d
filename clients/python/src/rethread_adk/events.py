"""ADK's events as Rethread's log holds them, and back."""

from __future__ import annotations

import base64
from typing import Any

from google.adk.events.event import Event
from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import to_jsonable_python

# Entries that only the whole log shows: they hold places, and no event of the
# conversation.
_HIDDEN = frozenset({"task", "run"})


def to_json(event: Event) -> dict[str, Any]:
    """An event as it is sent. What has its default is left out."""
    raw = event.model_dump(mode="python", exclude_defaults=True)
    # Always sent, default or not. An event of no invocation is one by itself.
    raw |= {"id": event.id, "invocation_id": event.invocation_id or event.id, "author": event.author}
    sent: dict[str, Any] = jsonable(raw)
    return sent


def jsonable(value: Any) -> Any:
    """A value as JSON. What JSON has no form for becomes its text, as in ADK."""
    return to_jsonable_python(_encoded(value), fallback=str)


def _encoded(value: Any) -> Any:
    """Bytes in standard base64, which every language reads; pydantic's own is
    the URL-safe one, which Go does not."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _encoded(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(v) for v in value]
    return value


def from_json(raw: dict[str, Any]) -> Event:
    """An event of the log, whoever wrote it: members that ADK does not know
    are left out.

    Raises:
      ValidationError: a member that ADK knows has another form.
    """
    known = {"timestamp": raw["created_time"] / 1000}
    known |= {name: value for name, value in raw.items() if name in Event.model_fields}
    if failure := raw.get("error"):
        message = failure.get("message") if isinstance(failure, dict) else failure
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
        # Errors name members in camel case, in whichever they came.
        if isinstance(step, str) and step not in raw:
            step = to_snake(step)
        raw = raw[step]
    del raw[where[-1]]


def is_hidden(raw: dict[str, Any]) -> bool:
    """Whether an entry of the whole log is no event of the conversation."""
    return raw.get("type") in _HIDDEN


def is_shown(raw: dict[str, Any]) -> bool:
    """Whether an effective entry is an event to ADK. The initial state is none
    there, and neither is what is still being produced."""
    initial = raw["seq"] == 1 and raw["author"] == "system" and raw.get("content") is None
    return not initial and raw["status"] != "in_progress"
