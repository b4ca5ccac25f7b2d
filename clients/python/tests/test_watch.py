"""Watching with both clients: each message once, over any number of connections."""

from __future__ import annotations

import json as text
from typing import Any

import httpx
import pytest

from networks import Caller, Network, data, events, json
from rethread_client import ForbiddenError, NotFoundError, UnauthorizedError, View
from rethread_client._core.sse import Parser

both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
RESET = httpx.ReadError("reset")


def event(event_id: str, kind: str, cursor: str | None = None, **members: Any) -> str:
    message = {"type": kind, "cursor": cursor or event_id, "prev": "0.0.0", **members}
    return f"id: {event_id}\nevent: {kind}\ndata: {text.dumps(message)}\n\n"


def item(seq: int, said: str = "", status: str = "completed") -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": said}] if said else []}
    return {"id": f"e{seq}", "seq": seq, "status": status, "content": content}


def whole(seq: int, epoch: int = 0, event_id: str = "") -> str:
    cursor = f"{epoch}.{seq}.0"
    return event(event_id or cursor, "item.snapshot", cursor, item=item(seq, f"text {seq}"), offset=0)


def delta(seq: int, offset: int, said: str) -> str:
    add = {"item_id": f"e{seq}", "delta": {"part": 0, "text": said}, "offset": offset}
    return event(f"0.{seq}.{offset}", "item.delta", **add)


DELETED = event("0.9.0", "thread.deleted")


async def watched(is_async: bool, network: Network, **options: Any) -> list[dict[str, Any]]:
    options.setdefault("cursor", "0.0.0")
    result: list[dict[str, Any]] = await Caller(network, is_async)(lambda c: c.watch("s", **options))
    return result


def cursors(messages: list[dict[str, Any]]) -> list[str]:
    return [f"{m['type'].partition('.')[2]} {m['cursor']}" for m in messages]


@both
async def test_a_connection_continues_where_the_last_one_ended(is_async: bool) -> None:
    network = Network(
        events("retry: 70\n\n", ": ping\n\n", whole(1)),
        events(whole(2), end=RESET),
        json(503, {}, Retry_After="3"),
        events(whole(3), whole(4)[:-2]),
        events(whole(4), DELETED),
    )
    messages = await watched(is_async, network, cursor="0.0.0")
    assert cursors(messages) == [f"snapshot 0.{n}.0" for n in (1, 2, 3, 4)] + ["deleted 0.9.0"]
    assert network.asked[0].url.params["cursor"] == "0.0.0"
    ids = [request.headers.get("Last-Event-ID") for request in network.asked]
    assert ids == [None, "0.1.0", "0.2.0", "0.2.0", "0.3.0"]
    assert network.waits == [0.07, 0.25, 3.0, 1.0]


@both
async def test_an_item_in_progress_is_continued(is_async: bool) -> None:
    begun = event("0.1.0", "item.snapshot", item=item(1, status="in_progress"), offset=0)
    again = event("0.1.3", "item.snapshot", item=item(1, "abc", "in_progress"), offset=3)
    done = event("0.1.5", "item.completed", item=item(1, "abcde"))
    network = Network(
        events(begun, delta(1, 1, "a"), end=RESET),
        events(begun, delta(1, 1, "a"), delta(1, 2, "b"), end=RESET),
        events(again, delta(1, 4, "d"), end=RESET),
        events(done, end=RESET),
        events(done, again, delta(1, 4, "d"), whole(2), DELETED),
    )
    messages = await watched(is_async, network)
    assert cursors(messages) == [
        "snapshot 0.1.0", "delta 0.1.1", "delta 0.1.2", "snapshot 0.1.3", "delta 0.1.4", "completed 0.1.5",
        "snapshot 0.2.0", "deleted 0.9.0",
    ]  # fmt: skip
    view = View()
    texts: list[str] = []
    for message in messages[:6]:
        view.apply(message)  # type: ignore[arg-type]
        texts.append("".join(part["text"] for part in view.items[0]["content"]["parts"]))
    assert texts == ["", "a", "ab", "abc", "abcd", "abcde"]


@both
async def test_items_that_overtook_one_in_progress_are_not_repeated(is_async: bool) -> None:
    begun = event("0.1.0", "item.snapshot", item=item(1, status="in_progress"), offset=0)
    grown = event("0.1.2", "item.snapshot", item=item(1, "ab", "in_progress"), offset=2)
    network = Network(
        events(begun, whole(2, event_id="0.1.0"), whole(3, event_id="0.1.0"), end=RESET),
        events(
            grown,
            whole(2, event_id="0.1.2"),
            whole(3, event_id="0.1.2"),
            whole(4, event_id="0.1.2"),
            end=RESET,
        ),
        events(event("0.4.0", "item.completed", "0.1.3", item=item(1, "abc")), DELETED),
    )
    messages = await watched(is_async, network)
    assert cursors(messages)[:-1] == [
        "snapshot 0.1.0", "snapshot 0.2.0", "snapshot 0.3.0", "snapshot 0.1.2", "snapshot 0.4.0",
        "completed 0.1.3",
    ]  # fmt: skip
    view = View()
    for message in messages[:-1]:
        view.apply(message)  # type: ignore[arg-type]
    assert [i["seq"] for i in view.items] == [1, 2, 3, 4]
    assert [request.headers.get("Last-Event-ID") for request in network.asked] == [None, "0.1.0", "0.1.2"]


@both
async def test_a_rewind_is_shown_once_and_the_thread_is_read_after_a_lost_connection(is_async: bool) -> None:
    rewound = event("1.3.0", "thread.rewound", to_seq=1, epoch=1)
    idle = event("1.3.0", "thread.status", status="idle")
    running = event("1.4.0", "thread.status", status="in_progress")
    thread = {"items": [item(1)], "status": "idle", "cursor": "1.3.0", "run": None, "session": {}}
    network = Network(
        events(whole(1), whole(2), rewound, idle, rewound, idle, end=RESET),
        data(thread),
        events(rewound, whole(4, epoch=1), running, end=RESET),
        events(whole(4, epoch=1), running, DELETED),
    )
    messages = await watched(is_async, network)
    assert cursors(messages) == [
        "snapshot 0.1.0", "snapshot 0.2.0", "rewound 1.3.0", "status 1.3.0", "reload 1.3.0",
        "snapshot 1.4.0", "status 1.4.0", "deleted 0.9.0",
    ]  # fmt: skip
    view = View()
    for message in messages[:-1]:
        view.apply(message)  # type: ignore[arg-type]
    assert ([i["seq"] for i in view.items], view.status) == ([1, 4], "in_progress")


@both
async def test_queues_are_shown_by_version(is_async: bool) -> None:
    first, second = (event("0.1.0", "thread.queue", queued=[], queue_version=v) for v in (1, 2))
    network = Network(events(first, second, end=RESET), events(second, first, DELETED))
    assert [m.get("queue_version") for m in await watched(is_async, network)] == [1, 2, None]


@both
async def test_a_reload_has_the_thread_and_continues_from_its_cursor(is_async: bool) -> None:
    reload = event("0.1.0", "thread.reload", "0.200.0", reason="too_many")

    def thread(request: httpx.Request) -> httpx.Response:
        cursor = request.url.params.get("cursor", "")
        if not cursor:
            threads.append("first")
        if cursor == "a" and len(threads) == 1:
            return json(409, {})(request)  # rewound between two pages
        items = [item(201)] if cursor else [item(199), item(200, "a", "in_progress")]
        page = {"items": items, "status": "in_progress", "cursor": "0.200.1", "run": None, "session": {}}
        if not cursor:
            page |= {"offsets": {"e200": 1}, "queued": [], "queue_version": 4}
        return json(200, {"data": page, "meta": {"next_cursor": None if cursor else "a"}})(request)

    threads: list[str] = []
    network = Network(
        events(whole(1), reload, whole(2)),
        thread, thread, thread, thread,
        events(delta(200, 1, "a"), delta(200, 2, "b"), whole(201), whole(202), DELETED),
    )  # fmt: skip
    messages = await watched(is_async, network)
    assert cursors(messages)[1:] == ["reload 0.200.0", "delta 0.200.2", "snapshot 0.202.0", "deleted 0.9.0"]
    assert [i["seq"] for i in messages[1]["thread"]["items"]] == [199, 200, 201]
    last = network.asked[-1]
    assert (last.url.params["cursor"], last.headers.get("Last-Event-ID")) == ("0.200.1", None)
    view = View()
    for message in messages[:-1]:
        view.apply(message)  # type: ignore[arg-type]
    assert [i["seq"] for i in view.items] == [199, 200, 201, 202]
    assert view.items[1]["content"]["parts"][0]["text"] == "ab"


@both
@pytest.mark.parametrize(
    ("status", "kind"), [(403, ForbiddenError), (404, NotFoundError), (401, UnauthorizedError)]
)
async def test_the_end_of_access_is_raised(status: int, kind: type[Exception], is_async: bool) -> None:
    network = Network(events(whole(1), event("0.1.0", "unsubscribed", reason="revoked")), json(status, {}))
    seen: list[Any] = []
    caller = Caller(network, is_async)
    with pytest.raises(kind):  # noqa: PT012
        if is_async:
            async for message in caller.client.watch("s", cursor="0.0.0"):
                seen.append(message)
        else:
            for message in caller.client.watch("s", cursor="0.0.0"):
                seen.append(message)
    assert cursors(seen) == ["snapshot 0.1.0"]


@both
async def test_a_token_that_expires_is_renewed(is_async: bool) -> None:
    network = Network(
        events(whole(1), event("0.1.0", "unsubscribed", reason="token_expired")),
        json(401, {}),
        events(whole(2), DELETED),
    )
    caller = Caller(network, is_async, token=lambda rejected: "new" if rejected else "old")
    assert cursors(await caller(lambda c: c.watch("s", cursor="0.0.0")))[:2] == [
        "snapshot 0.1.0",
        "snapshot 0.2.0",
    ]
    assert network.tokens == ["old", "old", "new"]


@both
async def test_messages_of_newer_servers_are_passed_on(is_async: bool) -> None:
    named = event("0.2.0", "thread.named", name="x")
    network = Network(
        events(whole(1), named, end=RESET), events(named, "data: 1\n\n"), events(whole(3), DELETED)
    )
    messages = await watched(is_async, network)
    assert cursors(messages)[:3] == ["snapshot 0.1.0", "named 0.2.0", "snapshot 0.3.0"]
    View().apply(messages[1])  # type: ignore[arg-type]


@both
async def test_a_reader_that_stops_closes_the_connection(is_async: bool) -> None:
    network = Network()
    responses: list[httpx.Response] = []

    def answer(request: httpx.Request) -> httpx.Response:
        responses.append(events(whole(1), whole(2))(request))
        return responses[-1]

    network.script = [answer]
    watch = Caller(network, is_async).client.watch("s", cursor="0.0.0")
    if is_async:
        await anext(watch)
        await watch.aclose()
    else:
        next(watch)
        watch.close()
    assert responses[0].is_closed


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_events_are_parsed_in_any_chunks(size: int) -> None:
    raw = "id: 1\r\nevent: x\r\ndata: \u00e9\r\ndata:b\r\n\r\n:c\n\nid\ndata: \U0001f600\r\r"
    raw += "retry: 5\nretry: x\n\ndata: cut\n"
    parser = Parser()
    body = raw.encode()
    found = [e for i in range(0, len(body), size) for e in parser.feed(body[i : i + size])]
    assert [(e.id, e.data) for e in found] == [("1", "\u00e9\nb"), ("", "\U0001f600")]
    assert parser.retry == 0.005
