"""When a request is tried again, and after how long."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

# Nothing was done, or what was done is recognised when it is asked for again.
_PASSING = frozenset({429, 502, 503, 504})

_LOST = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError)


@dataclass(frozen=True)
class Retries:
    """How often to try and how long to wait in between.

    Attributes:
      attempts: tries in all, at least 1.
      first: the longest wait before the second try, in seconds; it doubles
        from try to try.
      longest: the longest wait, in seconds. An answer that asks for more
        (Retry-After) is not waited for.
      sleep, chance: what waits, and a number from 0 to 1 that spreads the
        waits of many clients.
    """

    attempts: int = 5
    first: float = 0.2
    longest: float = 10.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def wait(self, tried: int, outcome: httpx.Response | Exception) -> float | None:
        """Seconds to wait after so many tries; None is to give up."""
        if tried >= self.attempts:
            return None
        asked = None
        if isinstance(outcome, httpx.Response):
            asked = _retry_after(outcome)
            # 409 with a time: an earlier try is still being carried out.
            if outcome.status_code not in _PASSING and (outcome.status_code != 409 or asked is None):
                return None
        elif not isinstance(outcome, _LOST):
            return None
        if asked is not None:
            return asked if asked <= self.longest else None
        return self.chance() * min(self.longest, self.first * 2.0 ** (tried - 1))


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds. Rethread and its gateways never give a date."""
    try:
        return max(0.0, float(response.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None
