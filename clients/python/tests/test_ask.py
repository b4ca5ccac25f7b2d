"""Asking with both clients: start, stream, and the answer."""

from __future__ import annotations

import json as text
from typing import Any

import httpx
import pytest
from test_watch import both, event

import rethread_client
from networks import Caller, Network, data, events, json
from rethread_client import codes

RUN = {"id": "r1", "session_id": "s", "status": "completed", "error": None}


def thread(*items: dict[str, Any], status: str = "in_progress", run: str = "r1", **more: Any) -> Any:
    return {
        "items": list(items), "status": status, "cursor": "0.1.0", "run": {"id": run} if run else None,
        "session": {}, **more,
    }  # fmt: skip


def item(
    seq: int, said: str, role: str = "model", status: str = "completed", run: str = "r1"
) -> dict[str, Any]:
    parts = [{"text": "hm", "thought": True}, {"text": said}] if role == "model" else [{"text": said}]
    content = {"role": role, "parts": parts}
    return {"id": f"e{seq}", "seq": seq, "status": status, "invocation_id": run, "content": content}


def delta(seq: int, offset: int, said: str) -> str:
    add = {"item_id": f"e{seq}", "delta": {"part": 1, "text": said}, "offset": offset}
    return event(f"0.{seq}.{offset}", "item.delta", **add)


OVER = event("0.3.0", "thread.status", status="idle", run_id=None)
STARTED = json(202, {"data": thread(), "meta": {"next_cursor": None}, "run_id": "r1"})


@both
async def test_ask_streams_and_returns_the_answer(is_async: bool) -> None:
    network = Network(
        STARTED,
        data(thread(item(1, "Well?", role="user"))),
        events(
            event("0.2.0", "item.snapshot", item=item(2, "", status="in_progress"), offset=0),
            delta(2, 1, "It is "), delta(2, 2, "4."),
            event("0.2.0", "item.completed", "0.2.3", item=item(2, "It is 4. Really.")),
            OVER,
        ),
        data(RUN),
    )  # fmt: skip
    pieces: list[str] = []
    answer = await Caller(network, is_async)(
        lambda c: c.ask("s", "Well?", on_text=pieces.append, request={"agent": "math"})
    )
    assert (answer.text, answer.run) == ("It is 4. Really.", RUN)
    assert pieces == ["It is ", "4.", " Really."]
    assert text.loads(network.asked[0].content) == {"agent": "math", "input": "Well?"}
    assert [request.url.path.rpartition("/")[2] for request in network.asked] == [
        "runs",
        "thread",
        "watch",
        "r1",
    ]


@both
async def test_wait_returns_a_run_that_was_over(is_async: bool) -> None:
    network = Network(data(thread(item(1, "4"), status="idle", run="")), data(RUN))
    assert await Caller(network, is_async)(lambda c: c.runs.wait("s", "r1")) == RUN


@both
async def test_a_run_that_waits_is_streamed_from_its_beginning(is_async: bool) -> None:
    queue = event("0.1.0", "thread.queue", "0.1.1", queued=[], queue_version=2)
    network = Network(
        data(thread(item(1, "other", run="r0"), run="r0", queued=[{"run_id": "r1"}], queue_version=1)),
        events(
            event("0.1.0", "thread.status", "0.2.0", status="idle", run_id=None), queue,
        ),
        data({**RUN, "status": "in_progress"}),
        events(
            event("0.2.0", "thread.status", "0.2.1", status="in_progress", run_id="r1"),
            event("0.3.0", "item.snapshot", item=item(3, "4"), offset=0), OVER.replace("0.3.0", "0.4.0"),
        ),
    )  # fmt: skip
    assert await Caller(network, is_async)(lambda c: c.runs.stream("s", "r1")) == ["4"]


@both
async def test_runs_are_listed_page_by_page(is_async: bool) -> None:
    def page(request: httpx.Request) -> httpx.Response:
        last = request.url.params.get("cursor") == "next"
        body = {"data": [{"id": "r1" if last else "r2"}], "meta": {"next_cursor": None if last else "next"}}
        return json(200, body)(request)

    runs = await Caller(Network(page), is_async)(lambda c: c.runs.list("s", limit=1))
    assert [run["id"] for run in runs] == ["r2", "r1"]


def test_each_code_has_a_class_below_that_of_its_status() -> None:
    assert len(codes.BY_CODE) > 60
    for code, kind in codes.BY_CODE.items():
        assert issubclass(kind, rethread_client.RethreadError), code
        assert kind(409, {"code": code}).code == code
    assert codes.BY_CODE["run_active"] is codes.RunActiveError
    assert issubclass(codes.RunActiveError, rethread_client.ConflictError)
    with pytest.raises(rethread_client.ConflictError):
        raise codes.error_for(409, {"code": "of_a_newer_server"}, None)
