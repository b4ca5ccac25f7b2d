"""The recorded cases that all clients have in common; clients/cases/README.md describes them."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

import rethread_client
from local import ROOT
from networks import Caller, Network
from rethread_client import RethreadError, Retries, View

CASES = [json.loads(path.read_text()) for path in sorted((ROOT / "clients" / "cases").glob("*.json"))]

KINDS = {
    "invalid": rethread_client.ValidationError,
    "unauthorized": rethread_client.UnauthorizedError,
    "forbidden": rethread_client.ForbiddenError,
    "not_found": rethread_client.NotFoundError,
    "conflict": rethread_client.ConflictError,
    "precondition_failed": rethread_client.PreconditionFailedError,
    "rate_limited": rethread_client.RateLimitedError,
    "unavailable": rethread_client.UnavailableError,
    "connection": rethread_client.NoAnswerError,
    "timeout": rethread_client.NoAnswerInTimeError,
    None: RethreadError,
}

CALLS: dict[str, Any] = {
    "createSession": lambda c, a, o: c.sessions.create(a["body"], **o),
    "getSession": lambda c, a, o: c.sessions.get(a["session_id"], **o),
    "updateSession": lambda c, a, o: c.sessions.update(a["session_id"], a["body"], **o),
    "deleteSession": lambda c, a, o: c.sessions.delete(a["session_id"], **o),
    "listSessions": lambda c, a, o: c.sessions.list(**a.get("query", {}), **o),
    "getForks": lambda c, a, o: c.sessions.forks(a["session_id"], **o),
    "rewindSession": lambda c, a, o: c.sessions.rewind(a["session_id"], a["body"], **o),
    "appendEvents": lambda c, a, o: c.events.append(a["session_id"], a["body"], **o),
    "appendInvocation": lambda c, a, o: append_invocation(c, a, o),
    "startRun": lambda c, a, o: c.runs.start(a["session_id"], a["body"], **o),
    "putArtifact": lambda c, a, o: c.artifacts.put(
        a["session_id"], a["name"], a["content"], mime_type=a.get("mime_type"), **o
    ),
}


async def append_invocation(client: Any, arguments: Any, options: Any) -> Any:
    """Appends batches, and returns the result of the last one."""
    writer = client.events.invocation(arguments["session_id"], arguments["invocation_id"])
    stored = None
    for batch in arguments["batches"]:
        with suppress(rethread_client.ValidationError):
            appended = writer.append(batch, **options)
            stored = await appended if inspect.isawaitable(appended) else appended
    return stored


class Left(Exception):  # noqa: N818
    """The stream of the last exchange stays open: everything was sent."""


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that ends with an error, or in order."""

    def __init__(self, text: str, end: Exception | None) -> None:
        self._text, self._end = text, end

    def __iter__(self) -> Iterator[bytes]:
        yield self._text.encode()
        if self._end is not None:
            raise self._end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


class Script(Network):
    """Takes the next exchange for each request, and compares the request."""

    def __init__(self, exchanges: list[Any]) -> None:
        super().__init__()
        self.left = list(exchanges)
        self.exchanges = exchanges
        self.answered = 0.0

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        assert self.left, f"one request too many: {request.method} {request.url}"
        exchange = self.left.pop(0)
        waited, least = (self.time - self.answered) * 1000, exchange.get("after_ms", 0)
        assert waited >= least - 0.001, f"{waited} ms, not {least}"
        if "subscription" in exchange:
            return self._stream(exchange, request)
        self._compare(exchange["request"], request)
        answer = exchange["answer"]
        if answer.get("silence"):
            self.time += request.extensions["timeout"]["read"]
        self.answered = self.time
        if answer.get("cut"):
            raise httpx.ReadError("cut")
        if answer.get("silence"):
            raise httpx.ReadTimeout("silence")
        headers = {"Content-Type": "application/json", **answer.get("headers", {})}
        text = answer.get("text", json.dumps(answer["body"]) if "body" in answer else "")
        end = httpx.ReadError("cut") if "cut_after" in answer else None
        body = Body(answer.get("cut_after", text), end)
        return httpx.Response(answer["status"], headers=headers, stream=body, request=request)

    def _compare(self, want: Any, request: httpx.Request) -> None:
        assert (request.method, request.url.raw_path.decode().partition("?")[0]) == (
            want["method"],
            want["path"],
        )
        if "query" in want:
            assert dict(request.url.params) == want["query"]
        for name, value in want.get("headers", {}).items():
            found = request.headers.get(name)
            assert found if value == "*" else found == value, name
        if "body" in want:
            assert json.loads(request.content) == want["body"]
        if "text" in want:
            assert request.content.decode() == want["text"]
        if "repeats" in want:
            first = self.asked[want["repeats"] - 1]
            assert request.content == first.content
            assert request.headers.get("Idempotency-Key") == first.headers.get("Idempotency-Key")

    def _stream(self, exchange: Any, request: httpx.Request) -> httpx.Response:
        want = exchange["subscription"]
        assert request.url.path.endswith("/watch"), request.url
        if "cursor" in want:
            assert request.headers.get("Last-Event-ID", request.url.params.get("cursor")) == want["cursor"]
        if "token" in want:
            assert request.headers["Authorization"] == f"Bearer {want['token']}"
        self.answered = self.time
        if refused := exchange.get("refused"):
            return httpx.Response(refused["status"], json=refused, request=request)
        text = "".join(f"event: {m['type']}\ndata: {json.dumps(m)}\n\n" for m in exchange["messages"])
        end = {"open": Left(), "closed": None, "cut": httpx.ReadError("cut")}[exchange["end"]]
        return httpx.Response(200, stream=Body(text, end), request=request)


def source_of(tokens: list[str]) -> Any:
    """A source of tokens, each of which is returned until it is rejected."""
    left = list(tokens)

    def token(rejected: str | None) -> str:
        if rejected == left[0] and len(left) > 1:
            left.pop(0)
        return left[0]

    return token


def compare(value: Any, want: Any, at: str = "the result") -> None:
    """Compares at least the members of objects, and all entries of lists."""
    if isinstance(want, dict):
        for name, entry in want.items():
            compare(value.get(name), entry, f"{at}.{name}")
    elif isinstance(want, list):
        assert len(value) == len(want), at
        for i, entry in enumerate(want):
            compare(value[i], entry, f"{at}[{i}]")
    else:
        assert value == want, at


def compare_error(error: RethreadError, want: Any) -> None:
    assert error.status == want["status"]
    if "kind" in want:
        kinds = [kind for kind, of in KINDS.items() if kind and isinstance(error, of)]
        assert kinds[-1:] == ([want["kind"]] if want["kind"] else [])
    for name in ("type", "code", "title", "detail", "request_id", "reason"):
        if name in want:
            assert getattr(error, name) == want[name]
    if "errors" in want:
        assert [{"pointer": e.pointer, "detail": e.detail} for e in error.errors] == want["errors"]
    if "retry_after_ms" in want:
        assert (error.retry_after or 0) * 1000 == want["retry_after_ms"]
    for name, value in want.get("members", {}).items():
        assert error.problem[name] == value


def shown(view: View) -> Any:
    items = [
        {
            "id": item["id"],
            "status": item["status"],
            "text": "".join(part.get("text", "") for part in item["content"]["parts"]),
        }
        for item in view.items
    ]
    return {"status": view.status, "run_id": view.run_id, "epoch": view.epoch, "items": items}


async def call(case: Any, caller: Caller) -> None:
    made = case["call"]
    options = {name: made[name] for name in ("idempotency_key", "if_match") if name in made}
    if "timeout_ms" in made:
        options["timeout"] = made["timeout_ms"] / 1000
    outcome = case["outcome"]
    if "error" not in outcome:
        compare(
            await caller(lambda c: CALLS[made["operation"]](c, made["arguments"], options)), outcome["result"]
        )
        return
    with pytest.raises(RethreadError) as caught:
        await caller(lambda c: CALLS[made["operation"]](c, made["arguments"], options))
    compare_error(caught.value, outcome["error"])


async def watch(case: Any, caller: Caller, is_async: bool) -> None:
    view = View()
    outcome = case["outcome"]
    messages = caller.client.watch(case["watch"]["session_id"])
    ended: RethreadError | None = None
    try:
        if is_async:
            async for message in messages:
                view.apply(message)
        else:
            for message in messages:
                view.apply(message)
    except RethreadError as error:
        ended = error
    except Left:
        pass
    if "shows" in outcome:
        assert ended is None
        compare(shown(view), outcome["shows"])
    elif outcome["ends"]["kind"] == "deleted":
        assert view.deleted
    else:
        assert ended is not None
        compare_error(ended, outcome["ends"])


def test_there_are_cases() -> None:
    assert len(CASES) >= 30


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
async def test_a_case(case: Any, is_async: bool) -> None:
    script = Script(case["exchanges"])
    retries = Retries(chance=lambda: 0.0, clock=lambda: script.time)
    caller = Caller(script, is_async, token=source_of(case.get("tokens", ["token"])), retries=retries)
    if "watch" in case:
        await watch(case, caller, is_async)
    else:
        await call(case, caller)
    assert script.left == []
