"""Fixtures: savers of a new user, as other processes would have them, and a new thread."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack

import httpx
import pytest
from langchain_core.runnables import RunnableConfig

from graphs import AsyncSavers, Savers
from local import LocalSystem
from rethread_client import AsyncRethread, Rethread
from rethread_client.langgraph import AsyncRethreadSaver, RethreadSaver


@pytest.fixture
def token(system: LocalSystem, user: str) -> str:
    return system.token(user)


@pytest.fixture
def savers(system: LocalSystem, token: str) -> Iterator[Savers]:
    with ExitStack() as stack:

        def make(transport: httpx.BaseTransport | None = None, **options: object) -> RethreadSaver:
            client = stack.enter_context(Rethread(system.url, token, transport=transport))
            return RethreadSaver(client, **options)  # type: ignore[arg-type]

        yield make


@pytest.fixture
async def asavers(system: LocalSystem, token: str) -> AsyncIterator[AsyncSavers]:
    async with AsyncExitStack() as stack:

        def make(transport: httpx.AsyncBaseTransport | None = None) -> AsyncRethreadSaver:
            client = AsyncRethread(system.url, token, transport=transport)
            stack.push_async_exit(client)
            return AsyncRethreadSaver(client)

        yield make


@pytest.fixture
def saver(savers: Savers) -> RethreadSaver:
    return savers()


@pytest.fixture
def api(system: LocalSystem, token: str) -> Iterator[Rethread]:
    with Rethread(system.url, token) as client:
        yield client


@pytest.fixture
def config() -> RunnableConfig:
    return {"configurable": {"thread_id": str(uuid.uuid4())}}
