"""Tests of the JSON form of events."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.genai import types
from pydantic import BaseModel, ValidationError

from rethread_client.adk.events import from_json, is_shown, to_json

STORED: dict[str, Any] = {
    "id": "e",
    "seq": 2,
    "session_id": "s",
    "status": "completed",
    "created_time": 1500,
    "invocation_id": "i",
    "author": "guide",
    "content": None,
    "actions": {},
}


class Place(BaseModel):
    name: str


def test_json_is_snake_case_without_defaults_and_with_standard_base64() -> None:
    part = types.Part.from_bytes(data=b"\xfb\xff\xfe", mime_type="image/png")
    event = Event(
        id="e", invocation_id="i", author="guide", timestamp=1.5, content=types.Content(parts=[part])
    )
    assert {k: v for k, v in to_json(event).items() if v not in ({}, None)} == {
        "id": "e",
        "invocation_id": "i",
        "author": "guide",
        "timestamp": 1.5,
        "content": {"parts": [{"inline_data": {"data": "+//+", "mime_type": "image/png"}}]},
    }
    assert from_json({**STORED, **to_json(event)}) == event


def test_state_values_are_converted_to_json() -> None:
    state = {
        "when": datetime(2026, 1, 2, tzinfo=UTC),
        "place": Place(name="Faro"),
        "many": {1},
        "gone": None,
        "odd": len,
    }
    sent = to_json(Event(author="a", actions=EventActions(state_delta=state)))["actions"]["state_delta"]
    assert sent == {
        "when": "2026-01-02T00:00:00Z",
        "place": {"name": "Faro"},
        "many": [1],
        "gone": None,
        "odd": str(len),
    }


def test_members_unknown_to_adk_are_left_out() -> None:
    event = from_json(
        {
            **STORED,
            "message": "x",
            "state": {"y": 1},
            "error": {"message": "too slow"},
            "content": {
                "role": "model",
                "parts": [
                    {"text": "hi", "x": 1},
                    {"function_call": {"name": "f", "args": {"x": 1}, "args_text": "{"}},
                ],
            },
            "actions": {"state_delta": {"a": 1}, "x": 1},
        }
    )
    assert (event.timestamp, event.error_message) == (1.5, "too slow")
    assert event.actions == EventActions(state_delta={"a": 1})
    call = types.FunctionCall(name="f", args={"x": 1})
    assert event.content == types.Content(
        role="model", parts=[types.Part(text="hi"), types.Part(function_call=call)]
    )


def test_an_invalid_member_is_an_error() -> None:
    with pytest.raises(ValidationError):
        from_json({**STORED, "content": {"parts": "none"}})


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({}, True),
        ({"status": "failed"}, True),
        ({"status": "in_progress"}, False),
        ({"seq": 1, "author": "system"}, False),
        ({"seq": 1, "author": "system", "content": {"parts": []}}, True),
        ({"seq": 1}, True),
    ],
)
def test_the_initial_state_and_events_in_progress_are_not_shown(changed: dict[str, Any], shown: bool) -> None:
    assert is_shown({**STORED, **changed}) == shown


def test_what_json_cannot_express_is_stored_in_another_form() -> None:
    response = {"half": "x\ud83d", "\udc00": float("nan"), "set": {"\ud800"}}
    part = types.Part(function_response=types.FunctionResponse(name="f", response=response))
    delta = {"n": float("inf"), "place": Place(name="\ud83d")}
    event = Event(
        author="guide", content=types.Content(parts=[part]), actions=EventActions(state_delta=delta)
    )
    sent = to_json(event)
    stored = {"half": "x\ufffd", "\ufffd": "NaN", "set": ["\ufffd"]}
    assert sent["content"]["parts"][0]["function_response"]["response"] == stored
    assert sent["actions"]["state_delta"] == {"n": "Infinity", "place": {"name": "\ufffd"}}
