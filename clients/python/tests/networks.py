"""A scripted network for both clients, and one way to test both."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import httpx

from rethread_client import AsyncRethread, Rethread, Retries

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]

URL = "https://rethread.example"


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that arrives in chunks, and may break instead of ending."""

    def __init__(self, chunks: Iterable[bytes | Exception]) -> None:
        self._chunks = list(chunks)
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


class Network(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Gives each answer once, and the last one again and again. Records requests and waits."""

    def __init__(self, *script: Answer) -> None:
        self.script = list(script)
        self.asked: list[httpx.Request] = []
        self.tokens: list[str] = []
        self.waits: list[float] = []
        self.time = 0.0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        return self._answer(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return self._answer(request)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        self.tokens.append(request.headers.get("Authorization", "").removeprefix("Bearer "))
        outcome = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, httpx.Response):
            return outcome
        return outcome(request)

    def pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds

    async def apause(self, seconds: float) -> None:
        self.pause(seconds)


class Caller:
    """Either client, with the calls of the other one: `await caller(lambda c: c.sessions.get("s"))`."""

    def __init__(self, network: Network, is_async: bool, **options: Any) -> None:
        retries = options.pop("retries", Retries(chance=lambda: 1.0, clock=lambda: network.time))
        settings = {"token": "token", "retries": retries, "transport": network, "stream_url": URL, **options}
        self.network = network
        self.client: Any
        if is_async:
            self.client = AsyncRethread(URL, sleep=network.apause, **settings)
        else:
            self.client = Rethread(URL, sleep=network.pause, **settings)

    async def __call__(self, call: Callable[[Any], Any]) -> Any:
        """Makes a call; a list is read whole."""
        outcome = call(self.client)
        if hasattr(outcome, "all"):
            outcome = outcome.all()
        if hasattr(outcome, "__anext__"):
            return [entry async for entry in outcome]
        if hasattr(outcome, "__next__"):
            return list(outcome)
        return await outcome if inspect.isawaitable(outcome) else outcome


def data(value: Any, status: int = 200, **headers: str) -> Callable[[httpx.Request], httpx.Response]:
    """An answer of one page."""
    return json(status, {"data": value, "meta": {"next_cursor": None}}, **headers)


def json(status: int, body: Any, **headers: str) -> Callable[[httpx.Request], httpx.Response]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: httpx.Response(status, json=body, headers=named, request=request)


def events(*messages: str, end: Exception | None = None) -> Callable[[httpx.Request], httpx.Response]:
    """A stream of server-sent events, which ends or breaks."""

    def answer(request: httpx.Request) -> httpx.Response:
        chunks: list[bytes | Exception] = [message.encode() for message in messages]
        stream = Stream([*chunks, end] if end else chunks)
        return httpx.Response(
            200, stream=stream, headers={"Content-Type": "text/event-stream"}, request=request
        )

    return answer
