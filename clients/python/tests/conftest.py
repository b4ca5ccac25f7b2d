"""Fixtures: the local system, and a new user for each test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from local import LocalSystem


@pytest.fixture(scope="session")
def system() -> Iterator[LocalSystem]:
    running = LocalSystem()
    yield running
    running.stop()


@pytest.fixture
def user() -> str:
    return f"user-{uuid.uuid4()}"
