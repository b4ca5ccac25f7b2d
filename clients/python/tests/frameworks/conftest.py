"""Fixtures: the clients of a user, and an id of a session."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from local import LocalSystem
from rethread_client import AsyncRethread, Rethread


@pytest.fixture
def name() -> str:
    return f"session-{uuid.uuid4()}"


@pytest.fixture
def client(system: LocalSystem, user: str) -> Iterator[Rethread]:
    with Rethread(system.url, system.token(user)) as client:
        yield client


@pytest.fixture
async def asynchronous(system: LocalSystem, user: str) -> AsyncIterator[AsyncRethread]:
    async with AsyncRethread(system.url, system.token(user)) as client:
        yield client
