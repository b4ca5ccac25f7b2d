"""Fixtures: the local system, a saver of a new user, a new thread."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import httpx
import pytest
from langchain_core.runnables import RunnableConfig

from local import LocalSystem
from rethread_langgraph import RethreadSaver
from rethread_langgraph.requests import Http

Savers = Callable[..., RethreadSaver]


@pytest.fixture(scope="session")
def system() -> Iterator[LocalSystem]:
    running = LocalSystem()
    yield running
    running.stop()


@pytest.fixture
def token(system: LocalSystem) -> str:
    return system.token(f"user-{uuid.uuid4()}")


@pytest.fixture
def savers(system: LocalSystem, token: str) -> Iterator[Savers]:
    """Makes savers of one user, as other processes would have them."""
    made: list[RethreadSaver] = []

    def make(transport: httpx.BaseTransport | None = None, **options: object) -> RethreadSaver:
        made.append(RethreadSaver(system.url, lambda: token, transport=transport, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for saver in made:
        saver.close()


@pytest.fixture
def saver(savers: Savers) -> RethreadSaver:
    return savers()


@pytest.fixture
def api(system: LocalSystem, token: str) -> Iterator[Http]:
    http = Http(system.url, lambda: token)
    yield http
    http.close()


@pytest.fixture
def config() -> RunnableConfig:
    return {"configurable": {"thread_id": str(uuid.uuid4())}}
