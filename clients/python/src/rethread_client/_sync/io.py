"""Waiting, and what belongs to a client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Annotated, TypeVar

import httpx

T = TypeVar("T")

# The value itself; in the asynchronous client, what must be awaited for it.
Later = Annotated[T, "at once"]

# A bearer token, or a function that returns one. It is called with None for each
# request, so it should cache; after a 401 it is called once more, with the rejected
# token, and should renew it.
TokenSource = str | Callable[[str | None], str]

sleep = time.sleep

Lock = threading.Lock


def ask(source: Callable[[str | None], str], rejected: str | None) -> str:
    """Calls a function for a token."""
    return source(rejected)


def compute(function: Callable[[], T]) -> T:
    """Calls a function that keeps the processor busy."""
    return function()


class PerLoop:
    """A lock, and connections that threads share."""

    def __init__(self, transport: httpx.BaseTransport | None) -> None:
        self._lock = threading.Lock()
        self._client = httpx.Client(transport=transport, timeout=None)  # noqa: S113 - each request has its own

    def lock(self) -> threading.Lock:
        """The client's lock."""
        return self._lock

    def http(self) -> httpx.Client:
        """The connections."""
        return self._client

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()
