"""The extras of the package, whose modules need packages of others."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def extra(name: str) -> Generator[None]:
    """Names the extra that installs what an import lacks."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("rethread_client"):
            raise
        raise ModuleNotFoundError(
            f'{error.name} is missing: pip install "rethread-client[{name}]"', name=error.name
        ) from error
