"""The errors of requests to Rethread.

If ADK has its own error for a situation (a stale session, an unknown
invocation), the services raise that one, with the error of this module as cause.
"""

from __future__ import annotations

from typing import Any

import httpx
from google.adk.errors.input_validation_error import InputValidationError

from .. import errors


class RethreadError(errors.RethreadError):
    """An unsuccessful response, or none at all.

    Attributes:
      status: the HTTP status; 0 if no response arrived.
      problem: the response's problem (RFC 9457), empty if it had none.
    """

    def __init__(self, detail: str, status: int = 0, problem: dict[str, Any] | None = None) -> None:
        super().__init__(status, problem)
        self._described = detail

    def __str__(self) -> str:
        return self._described


class InvalidError(RethreadError, InputValidationError):
    """The request violates a rule or a limit (400, 413, 422)."""


class DeniedError(RethreadError, PermissionError):
    """The token is missing or invalid, or the user has no access (401, 403)."""


class UnavailableError(RethreadError, ConnectionError):
    """No response, or status 429, 502, 503 or 504, after all retries."""


_KINDS: dict[int, type[RethreadError]] = {
    0: UnavailableError,
    400: InvalidError,
    401: DeniedError,
    403: DeniedError,
    413: InvalidError,
    422: InvalidError,
    429: UnavailableError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def error_of(error: errors.RethreadError, request: str) -> RethreadError:
    """Returns the error of this module for one of the client."""
    kind = _KINDS.get(error.status, RethreadError)
    if not error.status:
        return kind(f"{request}: {error}")
    detail = error.detail or httpx.codes.get_reason_phrase(error.status)
    broken = "".join(f"; {violation.pointer} {violation.detail}" for violation in error.errors)
    found = kind(f"{error.status}: {detail}{broken}", error.status, error.problem)
    found.retry_after = error.retry_after
    return found


def is_missing(error: RethreadError) -> bool:
    """Whether a resource does not exist: it was not found, or nothing can have its id or name."""
    named = any(violation.pointer in ("session_id", "name") for violation in error.errors)
    return error.status == 404 or (isinstance(error, InvalidError) and named)
