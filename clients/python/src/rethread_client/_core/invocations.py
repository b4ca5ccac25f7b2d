"""Events of one invocation, numbered so that a repeat is safe and cheap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Required, cast

from typing_extensions import TypedDict

from ..types import Actions, Content, EventRequest


class InvocationEvent(TypedDict, total=False, extra_items=Any):
    """An event of an invocation, which gives it its `id` and `invocation_id`."""

    author: Required[str]
    content: Content | None
    actions: Actions | None
    partial: bool | None


def numbered(events: Sequence[InvocationEvent], invocation_id: str, first: int) -> list[EventRequest]:
    """Returns events with the ids `<invocation_id>.<n>`, from a number on."""
    for i, event in enumerate(events):
        if "id" in event or "invocation_id" in event:
            raise ValueError(f"event {i} has an id or an invocation_id of its own")
    return [
        cast(
            "EventRequest",
            {**event, "id": f"{invocation_id}.{first + i}", "invocation_id": invocation_id},
        )
        for i, event in enumerate(events)
    ]
