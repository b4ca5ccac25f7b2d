"""Fixtures: the services of a user."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from local import LocalSystem
from rethread_client.adk import AdkClient, RethreadArtifactService, RethreadSessionService


@pytest.fixture
async def client(system: LocalSystem) -> AsyncIterator[AdkClient]:
    tokens: dict[str, str] = {}

    def token(user_id: str) -> str:
        if user_id not in tokens:
            tokens[user_id] = system.token(user_id)
        return tokens[user_id]

    async with AdkClient(system.url, token) as client:
        yield client


@pytest.fixture
def sessions(client: AdkClient) -> RethreadSessionService:
    return RethreadSessionService(client)


@pytest.fixture
def artifacts(client: AdkClient) -> RethreadArtifactService:
    return RethreadArtifactService(client)
