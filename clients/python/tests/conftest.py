"""Fixtures: the local system, a new user for each test, the user's services."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from local import LocalSystem
from rethread_adk import Rethread, RethreadArtifactService, RethreadSessionService

APP = "trips"


@pytest.fixture(scope="session")
def system() -> Iterator[LocalSystem]:
    running = LocalSystem()
    yield running
    running.stop()


@pytest.fixture
def user() -> str:
    return f"user-{uuid.uuid4()}"


@pytest.fixture
async def client(system: LocalSystem) -> AsyncIterator[Rethread]:
    tokens: dict[str, str] = {}

    def token(user_id: str) -> str:
        if user_id not in tokens:
            tokens[user_id] = system.token(user_id)
        return tokens[user_id]

    async with Rethread(system.url, token) as client:
        yield client


@pytest.fixture
def sessions(client: Rethread) -> RethreadSessionService:
    return RethreadSessionService(client)


@pytest.fixture
def artifacts(client: Rethread) -> RethreadArtifactService:
    return RethreadArtifactService(client)
