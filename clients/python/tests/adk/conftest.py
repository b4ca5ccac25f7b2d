"""Fixtures: the services of a user."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from local import LocalSystem
from rethread_client.adk import Rethread, RethreadArtifactService, RethreadSessionService


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
