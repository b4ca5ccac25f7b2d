"""When to send a request again, and how long to wait before."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx

from ..codes import error_for
from ..errors import NoAnswerError, RethreadError
from .calls import AnyOptions, Call, body_of

_UNKNOWN = (502, 503, 504)


@dataclass(frozen=True)
class Retries:
    """How a call is repeated.

    Attributes:
      attempts: the largest number of attempts, at least 1.
      first: the longest delay before the second attempt, in seconds; it doubles with
        each further one.
      longest: the longest delay, in seconds; a longer Retry-After is respected.
      chance: returns a number from 0 to below 1, by which a delay is multiplied.
      clock: returns seconds of a clock that never goes back.
      attempt: the seconds that one attempt has at most; the gateway answers within 30.
    """

    attempts: int = 5
    first: float = 0.25
    longest: float = 8.0
    chance: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic
    attempt: float = 30.0

    def jitter(self, failures: int) -> float:
        """Returns the delay after a number of failures: a random part of a bound that doubles."""
        return self.chance() * min(self.longest, self.first * 2.0 ** (min(failures, 64) - 1))


class Tries:
    """The attempts of one call."""

    def __init__(self, call: Call, options: AnyOptions, retries: Retries, timeout: float) -> None:
        self._call = call
        self._retries = retries
        # A conditional change that succeeded would fail when it is repeated.
        self._repeatable = call.repeat != "refused" and "if_match" not in options
        self.timeout = options.get("timeout", timeout)
        self._end = retries.clock() + self.timeout
        self.failures = 0

    def begin(self) -> float:
        """Returns the seconds that the next attempt has."""
        return min(max(0.001, self._end - self._retries.clock()), self._retries.attempt)

    def late(self, since: float, limit: float) -> bool:
        """Whether an attempt that began at a time has used its seconds."""
        return self._retries.clock() - since > limit

    def now(self) -> float:
        """The time of the clock."""
        return self._retries.clock()

    def succeeded(self, response: httpx.Response) -> bool:
        """Whether the call is done with this answer."""
        gone = self.failures > 0 and self._call.repeat == "delete" and response.status_code == 404
        return response.is_success or gone

    def wait(self, error: RethreadError) -> float | None:
        """Returns the seconds before another attempt; None if there must be none."""
        self.failures += 1
        if self.failures >= self._retries.attempts or not self._may_repeat(error):
            return None
        delay = max(error.retry_after or 0.0, self._retries.jitter(self.failures))
        return delay if self._retries.clock() + delay < self._end else None

    def _may_repeat(self, error: RethreadError) -> bool:
        refused = error.status == 429
        # 409 with Retry-After: an earlier attempt is still being executed.
        executing = error.status == 409 and self._call.repeat == "key" and error.retry_after is not None
        unknown = isinstance(error, NoAnswerError) or error.status in _UNKNOWN
        return refused or executing or (unknown and self._repeatable)


def error_of(response: httpx.Response) -> RethreadError:
    """Returns the error of an answer whose body was read."""
    try:
        body = body_of(response)
    except ValueError:
        body = None
    return error_for(response.status_code, body, _retry_after(response.headers.get("Retry-After")))


def _retry_after(header: str | None) -> float | None:
    """Returns the seconds of a Retry-After header, which has seconds or a date; None without one."""
    if not header:
        return None
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
