"""Retries, time limits, tokens and errors of both clients, with a scripted network."""

from __future__ import annotations

import gzip
from email.utils import formatdate
from typing import Any

import httpx
import pytest

from networks import URL, Caller, Network, Stream, data, json
from rethread_client import (
    ConflictError,
    ForbiddenError,
    NoAnswerError,
    NoAnswerInTimeError,
    NotFoundError,
    RateLimitedError,
    RethreadError,
    UnauthorizedError,
    UnavailableError,
    ValidationError,
)
from rethread_client._core.retries import error_of

both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
LOST = httpx.ConnectError("refused")


@both
async def test_delays_double_up_to_a_bound_and_end_after_five_attempts(is_async: bool) -> None:
    network = Network(json(503, {}))
    with pytest.raises(UnavailableError):
        await Caller(network, is_async)(lambda c: c.sessions.get("s"))
    assert network.waits == [0.25, 0.5, 1.0, 2.0]


@both
async def test_retry_after_is_the_least_delay(is_async: bool) -> None:
    date = formatdate(usegmt=True)
    network = Network(
        json(429, {}, Retry_After="20"),
        json(503, {}, Retry_After=date),
        json(503, {}, Retry_After="soon"),
        data({}),
    )
    await Caller(network, is_async)(lambda c: c.sessions.get("s"))
    assert network.waits == [20.0, 0.5, 1.0]


@both
async def test_a_call_ends_within_its_time_limit(is_async: bool) -> None:
    network = Network(json(429, {}, Retry_After="20"))
    caller = Caller(network, is_async)
    with pytest.raises(RateLimitedError) as caught:
        await caller(lambda c: c.sessions.get("s"))
    assert network.waits == [20.0, 20.0]
    assert caught.value.retry_after == 20.0
    network.waits.clear()
    with pytest.raises(RateLimitedError):
        await caller(lambda c: c.sessions.get("s", timeout=5))
    assert network.waits == []


@both
async def test_a_body_that_trickles_is_no_answer(is_async: bool) -> None:
    network = Network()

    def trickle(request: httpx.Request) -> httpx.Response:
        network.time += 31
        return httpx.Response(200, stream=Stream([b"{", b"}"]), request=request)

    network.script = [trickle]
    with pytest.raises(NoAnswerInTimeError):
        await Caller(network, is_async)(lambda c: c.sessions.get("s"))
    assert len(network.asked) == 2


@both
async def test_a_body_that_breaks_is_no_answer(is_async: bool) -> None:
    broken = Stream([b'{"data"', httpx.ReadError("reset")])
    network = Network(httpx.Response(200, stream=broken), data({"id": "s"}))
    assert await Caller(network, is_async)(lambda c: c.sessions.get("s")) == {"id": "s"}
    assert broken.closed


@both
async def test_a_write_that_is_being_executed_is_awaited(is_async: bool) -> None:
    network = Network(LOST, json(409, {"detail": "busy"}, Retry_After="1"), data({"id": "s"}, 201))
    await Caller(network, is_async)(lambda c: c.sessions.create({"id": "s"}))
    keys = {request.headers["Idempotency-Key"] for request in network.asked}
    assert len(network.asked) == 3
    assert len(keys) == 1
    with pytest.raises(ConflictError):
        await Caller(Network(json(409, {}, Retry_After="1")), is_async)(lambda c: c.sessions.get("s"))


@both
async def test_a_rejected_token_is_renewed_once(is_async: bool) -> None:
    asked: list[str | None] = []

    def token(rejected: str | None) -> str:
        asked.append(rejected)
        return "new" if rejected else "old"

    def answer(request: httpx.Request) -> httpx.Response:
        renewed = request.headers["Authorization"] == "Bearer new"
        return (data({}) if renewed else json(401, {}))(request)

    network = Network(answer)
    caller = Caller(network, is_async, token=token)
    await caller(lambda c: c.sessions.get("s"))
    assert asked == [None, "old"]
    await caller(lambda c: c.sessions.get("s"))
    assert asked == [None, "old", None], "the successor of a token is remembered"
    network.script = [json(401, {})]
    with pytest.raises(UnauthorizedError):
        await caller(lambda c: c.sessions.get("s"))
    with pytest.raises(UnauthorizedError):
        await Caller(network, is_async)(lambda c: c.sessions.get("s"))


async def test_a_token_may_come_from_a_coroutine() -> None:
    async def token(rejected: str | None) -> str:
        return "later"

    network = Network(data({}))
    await Caller(network, True, token=token)(lambda c: c.sessions.get("s"))
    assert network.tokens == ["later"]


@both
async def test_what_a_token_source_raises_is_raised(is_async: bool) -> None:
    def token(rejected: str | None) -> str:
        raise LookupError("signed out")

    network = Network(data({}))
    with pytest.raises(LookupError):
        await Caller(network, is_async, token=token)(lambda c: c.sessions.get("s"))
    assert network.asked == []


@both
async def test_other_clients_get_the_token_from_auth(is_async: bool) -> None:
    network = Network(json(401, {}), data({}))
    caller = Caller(network, is_async, token=lambda rejected: "new" if rejected else "old")
    if is_async:
        async with httpx.AsyncClient(auth=caller.client.auth, transport=network) as other:
            assert (await other.get(URL)).status_code == 200
    else:
        with httpx.Client(auth=caller.client.auth, transport=network) as client:
            assert client.get(URL).status_code == 200  # noqa: ASYNC212
    assert network.tokens == ["old", "new"]


@both
async def test_an_error_has_all_of_its_problem(is_async: bool) -> None:
    problem = {
        "type": "https://rethread.dev/invalid",
        "title": "Invalid",
        "status": 422,
        "detail": "The request is not valid.",
        "errors": [{"pointer": "/events/0/id", "detail": "is too long"}, "?"],
        "request_id": "r1",
    }
    with pytest.raises(ValidationError) as caught:
        await Caller(Network(json(422, problem)), is_async)(lambda c: c.sessions.get("s"))
    error = caught.value
    assert (error.status, error.title, error.request_id, error.problem) == (422, "Invalid", "r1", problem)
    assert [(e.pointer, e.detail) for e in error.errors] == [("/events/0/id", "is too long")]
    assert str(error) == "The request is not valid.; /events/0/id is too long"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ValidationError),
        (403, ForbiddenError),
        (404, NotFoundError),
        (409, ConflictError),
        (413, RethreadError),
        (500, RethreadError),
    ],
)
def test_a_status_has_a_class(status: int, kind: type[RethreadError]) -> None:
    body: dict[str, Any] = {"message": "from the gateway", "run_id": "r", "head_seq": 3}
    error = error_of(httpx.Response(status, json=body))
    assert type(error) is kind
    assert error.detail == "from the gateway"
    if isinstance(error, ConflictError):
        assert (error.run_id, error.event_id, error.head_seq) == ("r", None, 3)


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'"text"'])
def test_an_error_without_a_problem_has_its_status(content: bytes) -> None:
    assert str(error_of(httpx.Response(502, content=content))) == "The server answered 502."


@both
async def test_lists_are_read_page_by_page(is_async: bool) -> None:
    def page(request: httpx.Request) -> httpx.Response:
        cursor = request.url.params.get("cursor", "")
        following = {"": "a", "a": "b", "b": None}[cursor]
        return json(200, {"data": [cursor], "meta": {"next_cursor": following}})(request)

    network = Network(page)
    caller = Caller(network, is_async)
    assert await caller(lambda c: c.events.list("s", limit=1)) == ["", "a", "b"]
    assert [request.url.params["limit"] for request in network.asked] == ["1", "1", "1"]
    assert await caller(lambda c: c.events.list("s", cursor="b")) == ["b"]
    first = await caller(lambda c: c.events.list("s").page())
    assert (first.data, first.next_cursor) == ([""], "a")


@both
async def test_a_client_for_another_user_shares_the_connections(is_async: bool) -> None:
    network = Network(json(401, {}), data({}))
    caller = Caller(network, is_async)
    first = caller.client
    caller.client = first.with_token(lambda rejected: "renewed" if rejected else "other")
    await caller(lambda c: c.sessions.get("s"))
    await caller(lambda _: first.sessions.get("s"))
    assert network.tokens == ["other", "renewed", "token"]


@both
async def test_large_bodies_are_compressed(is_async: bool) -> None:
    network = Network(data({}))
    content = b"x" * ((4 << 20) + 1)
    caller = Caller(network, is_async)
    await caller(lambda c: c.artifacts.put("s", "a", content))
    await caller(lambda c: c.sessions.create({"name": content.decode()}))
    for request in network.asked:
        assert request.headers["Content-Encoding"] == "gzip"
        assert content in gzip.decompress(request.content)


@both
async def test_an_export_arrives_in_chunks(is_async: bool) -> None:
    network = Network(json(503, {}), httpx.Response(200, stream=Stream([b"{", b"}"])))
    caller = Caller(network, is_async, stream_url="https://stream.example/api/v1")
    assert b"".join(await caller(lambda c: c.sessions.export("s"))) == b"{}"
    assert str(network.asked[-1].url) == "https://stream.example/api/v1/sessions/s/export"
    broken = Network(httpx.Response(200, stream=Stream([b"{", httpx.ReadError("reset")])))
    with pytest.raises(NoAnswerError):
        await Caller(broken, is_async)(lambda c: c.sessions.export("s"))


@both
async def test_agents_are_at_the_address_for_streams(is_async: bool) -> None:
    network = Network(json(200, {}))
    caller = Caller(network, is_async, stream_url="https://stream.example/api/v1")
    await caller(lambda c: c.a2a.card("team/agent"))
    await caller(lambda c: c.a2a.card())
    await caller(lambda c: c.a2a.keys())
    assert [str(request.url) for request in network.asked] == [
        "https://stream.example/a2a/team~agent/.well-known/agent-card.json",
        "https://stream.example/.well-known/agent-card.json",
        "https://stream.example/a2a/.well-known/jwks.json",
    ]


@both
async def test_imports_have_a_session_or_progress(is_async: bool) -> None:
    network = Network(
        json(202, {"data": {"import_id": "i", "next_part": 2}}),
        json(201, {"data": {"id": "s"}, "meta": {"kept": ["user:a"]}}),
    )
    caller = Caller(network, is_async)
    begun = await caller(lambda c: c.imports.start({}))
    done = await caller(lambda c: c.imports.part("i", 2, {}))
    assert (begun.session, begun.progress) == (None, {"import_id": "i", "next_part": 2})
    assert (done.session, done.progress, done.kept) == ({"id": "s"}, None, ["user:a"])
