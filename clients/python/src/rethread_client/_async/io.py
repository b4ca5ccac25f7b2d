"""Waiting, and what belongs to an event loop.

A program may use a client in several loops one after another: each call of
`asyncio.run` starts one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

import httpx

T = TypeVar("T")

# What must be awaited for a value; the value itself in the synchronous client.
Later = Awaitable[T]

# A bearer token, or a function that returns one. It is called with None for each
# request, so it should cache; after a 401 it is called once more, with the rejected
# token, and should renew it.
TokenSource = str | Callable[[str | None], str | Awaitable[str]]

sleep = asyncio.sleep

Lock = asyncio.Lock


async def ask(source: Callable[[str | None], str | Awaitable[str]], rejected: str | None) -> str:
    """Calls a function for a token."""
    token = source(rejected)
    return token if isinstance(token, str) else await token


async def compute(function: Callable[[], T]) -> T:
    """Calls a function that keeps the processor busy."""
    return await asyncio.to_thread(function)


class PerLoop:
    """A lock and connections for each event loop."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None) -> None:
        self._transport = transport
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    def lock(self) -> asyncio.Lock:
        """The running loop's lock."""
        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    def http(self) -> httpx.AsyncClient:
        """The running loop's connections."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            # Those of loops that have ended cannot be closed any more.
            self._clients = {known: c for known, c in self._clients.items() if not known.is_closed()}
            self._clients[loop] = httpx.AsyncClient(transport=self._transport, timeout=None)  # noqa: S113
        return self._clients[loop]

    async def aclose(self) -> None:
        """Closes the running loop's connections."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()
