"""The addresses of a deployment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ..errors import RethreadError
from .arguments import address
from .calls import Base

_VERSION = "/api/v1"
_LASTS = 3600.0  # seconds until the deployment is asked again


class Addresses:
    """The addresses that paths are appended to. A version at the end of an address is accepted.

    The token is sent to that of streams, too. The deployment may name one of another origin, because
    its streams have one: who answers at `url` gets the token with each call anyway. So an answer from
    elsewhere, by a redirect, is not taken, nor a step from https down to http.

    Raises:
      ValueError: one is not an address of HTTP.
    """

    def __init__(self, url: str, stream_url: str | None, clock: Callable[[], float]) -> None:
        self._root = _root(address("url", url))
        self._given = _root(address("stream_url", stream_url)) if stream_url else None
        self._named: str | None = None
        self._until = 0.0
        self._clock = clock
        self.asked = 0  # how often the deployment was asked
        self._failure: Exception | None = None

    def find(self, base: Base) -> str | None:
        """Returns an address; None if the deployment must be asked for it."""
        root = self._root if base in ("api", "root") else self._given or self._fresh()
        return root + _VERSION if root and base in ("api", "stream") else root

    def _fresh(self) -> str | None:
        return self._named if self._clock() < self._until else None

    def named(self, document: object) -> None:
        """Takes the address that the deployment names.

        Raises:
          ValueError: it names none, or one without the encryption of its own.
        """
        data = cast("dict[str, Any]", document).get("data") if isinstance(document, dict) else None
        named = str(cast("dict[str, Any]", data).get("stream_url") if isinstance(data, dict) else None)
        if self._root.startswith("https:") and not named.startswith("https:"):
            raise ValueError("stream_url: it is not an address of https")
        self._take(_root(address("stream_url", named)))

    def failed(self, error: Exception) -> None:
        """Keeps the reason why the deployment did not answer. Addresses from before stay in use."""
        if self._named is not None:
            self._take(self._named)
            return
        self.asked += 1
        elsewhere = isinstance(error, RethreadError) and (300 <= error.status < 400 or error.status == 404)
        if elsewhere or isinstance(error, ValueError):
            at = self._root + _VERSION
            cause, error = (
                error,
                ValueError(f"url: {at} does not name the address of streams: pass stream_url"),
            )
            error.__cause__ = cause
        self._failure = error

    def failed_since(self, asked: int) -> Exception | None:
        """Returns the failure of a question that was asked in the meantime."""
        return self._failure if self.asked > asked else None

    def _take(self, root: str) -> None:
        self._named, self._until = root, self._clock() + _LASTS


def _root(url: str) -> str:
    return url.rstrip("/").removesuffix(_VERSION)
