"""The caller's bearer token."""

from __future__ import annotations

from .._core import arguments
from . import io


class AsyncTokens:
    """Asks for tokens. Calls whose token was rejected at the same time share a renewal.

    A token that cannot be sent raises a ValueError.
    """

    def __init__(self, source: io.TokenSource, per_loop: io.PerLoop) -> None:
        self._source = arguments.token(source) if isinstance(source, str) else source
        self._per_loop = per_loop
        self._renewed: tuple[str, str] | None = None  # a rejected token, and its successor

    async def get(self) -> str:
        """Returns the token for a request."""
        if isinstance(self._source, str):
            return self._source
        return arguments.token(await io.ask(self._source, None))

    async def renew(self, rejected: str) -> str:
        """Returns the token to use after one was rejected; the same one if there is no other."""
        if isinstance(self._source, str):
            return self._source
        async with self._per_loop.lock():
            if self._renewed is None or self._renewed[0] != rejected:
                self._renewed = (rejected, arguments.token(await io.ask(self._source, rejected)))
            return self._renewed[1]
