"""What a session shows after its log was cut."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from rethread_client.langgraph.history import History
from rethread_client.langgraph.values import Codec


def test_a_discard_cuts_before_the_input_of_its_run() -> None:
    history = History(Codec(JsonPlusSerializer()))
    cut = {"rewind_before_invocation_id": "r", "rewind_before_seq": 3}
    events: list[dict[str, Any]] = [
        {"invocation_id": "r", "author": "user"},
        {"invocation_id": "a", "author": "user"},
        {"invocation_id": "r", "author": "user"},
        {"invocation_id": "r", "author": "agent"},
        {"invocation_id": "discard-r", "author": "system", "actions": cut},
    ]
    for seq, event in enumerate(events, 1):
        history.add({"seq": seq, "id": f"e{seq}", **event})
    assert history.newest is not None
    assert history.newest.event["seq"] == 2
