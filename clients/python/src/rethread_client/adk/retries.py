"""When a request is retried, and after what delay."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .._core import retries


@dataclass(frozen=True)
class Retries:
    """How often to attempt a request and how long to wait in between.

    Attributes:
      attempts: maximum number of attempts, at least 1.
      first: the longest delay before the second attempt, in seconds; it doubles
        with each further attempt.
      longest: the longest delay, in seconds. A longer Retry-After is respected if it ends
        within the time that all attempts have.
      sleep: waits for a number of seconds.
      chance: returns a random number from 0 to 1, by which a delay is
        multiplied.
    """

    attempts: int = 5
    first: float = 0.2
    longest: float = 10.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def of_client(self, timeout: float) -> retries.Retries:
        """Returns the form that the client has them in, for attempts of a number of seconds."""
        return retries.Retries(self.attempts, self.first, self.longest, self.chance, attempt=timeout)

    def limit(self, timeout: float) -> float:
        """Returns the seconds that a request with all its attempts has."""
        return max(2 * timeout, self.attempts * self.longest)
