"""When a request is retried, and after what delay."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

# The request was not executed, or the server recognises a repetition.
_TEMPORARY = frozenset({429, 502, 503, 504})

_LOST = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError)


@dataclass(frozen=True)
class Retries:
    """How often to attempt a request and how long to wait in between.

    Attributes:
      attempts: maximum number of attempts, at least 1.
      first: the longest delay before the second attempt, in seconds; it doubles
        with each further attempt.
      longest: the longest delay, in seconds. A response with a longer
        Retry-After is not retried.
      sleep: waits for a number of seconds.
      chance: returns a random number from 0 to 1, by which a delay is
        multiplied.
    """

    attempts: int = 5
    first: float = 0.2
    longest: float = 10.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def wait(self, tried: int, outcome: httpx.Response | Exception) -> float | None:
        """Returns the seconds to wait after a number of attempts; None to give up."""
        if tried >= self.attempts:
            return None
        asked = None
        if isinstance(outcome, httpx.Response):
            asked = _retry_after(outcome)
            # 409 with Retry-After: an earlier attempt is still being executed.
            if outcome.status_code not in _TEMPORARY and (outcome.status_code != 409 or asked is None):
                return None
        elif not isinstance(outcome, _LOST):
            return None
        if asked is not None:
            return asked if asked <= self.longest else None
        return self.chance() * min(self.longest, self.first * 2.0 ** (tried - 1))


def _retry_after(response: httpx.Response) -> float | None:
    """Returns seconds. Rethread and its gateways never send a date."""
    try:
        return max(0.0, float(response.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None
