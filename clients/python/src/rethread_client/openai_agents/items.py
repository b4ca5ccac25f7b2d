"""Items as events, and events as items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from agents.items import TResponseInputItem

from .._core.turns import Turn, is_users, text_of
from ..types import EventRequest

# The member of an event that holds the item as it came.
_ITEM = "openai_item"


def begins_turn(item: TResponseInputItem) -> bool:
    """Whether an item is a message of the user."""
    return cast("Mapping[str, Any]", item).get("role") == "user"


def event_of(item: TResponseInputItem, turn: Turn) -> EventRequest:
    """Returns the next event of a turn, which shows an item to other clients."""
    members = cast("Mapping[str, Any]", item)
    role = str(members.get("role") or "")
    users = role == "user"
    plain = json.loads(json.dumps(members, default=_plain))
    return turn.event(
        "user" if users else role or "assistant",
        _shown(members),
        role="user" if users else "model",
        **{_ITEM: plain},
    )


def item_of(event: Mapping[str, Any]) -> TResponseInputItem | None:
    """Returns the item of an event; for a message of another client, a message; otherwise None."""
    item = event.get(_ITEM)
    if item is not None:
        return cast("TResponseInputItem", item)
    text = text_of(event)
    if not text:
        return None
    return cast("TResponseInputItem", {"role": "user" if is_users(event) else "assistant", "content": text})


def _shown(item: Mapping[str, Any]) -> str:
    """Returns the text that other clients show."""
    if "content" in item:
        return _text(item["content"])
    if item.get("type") == "function_call":
        return f"{item.get('name')}({item.get('arguments')})"
    if item.get("type") == "function_call_output":
        return _text(item.get("output"))
    return ""


def _text(content: Any) -> str:
    """Returns the text of a content or output, without images and files."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else json.dumps(content, default=_plain)
    parts = cast("list[Mapping[str, Any]]", content)
    return "".join(str(part.get("text") or part.get("refusal") or "") for part in parts)


def _plain(value: Any) -> Any:
    """Returns the JSON form of a model of the SDK."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_unset=True, mode="json")
    raise TypeError(f"an item cannot hold {type(value).__name__}")
