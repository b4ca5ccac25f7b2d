"""The errors of requests to Rethread.

If ADK has its own error for a situation (a stale session, an unknown
invocation), the services raise that one, with the error of this module as cause.
"""

from __future__ import annotations

from typing import Any, cast

import httpx
from google.adk.errors.input_validation_error import InputValidationError


class RethreadError(Exception):
    """An unsuccessful response, or none at all.

    Attributes:
      status: the HTTP status; 0 if no response arrived.
      problem: the response's problem (RFC 9457), empty if it had none.
    """

    def __init__(self, detail: str, status: int = 0, problem: dict[str, Any] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.problem = problem or {}


class InvalidError(RethreadError, InputValidationError):
    """The request violates a rule or a limit (400, 413, 422)."""


class DeniedError(RethreadError, PermissionError):
    """The token is missing or invalid, or the user has no access (401, 403)."""


class UnavailableError(RethreadError, ConnectionError):
    """No response, or status 429, 502, 503 or 504, after all retries."""


_KINDS: dict[int, type[RethreadError]] = {
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


def error_of(response: httpx.Response) -> RethreadError:
    """Returns the error of an unsuccessful response."""
    problem: dict[str, Any] = {}
    try:
        body = response.json()
    except ValueError:  # a response of the gateway itself
        body = None
    if isinstance(body, dict):
        problem = cast("dict[str, Any]", body)
    # Gateways use "message" instead of "detail".
    detail = problem.get("detail") or problem.get("message") or response.reason_phrase
    for violation in cast("list[dict[str, Any]]", problem.get("errors") or []):
        detail += f"; {violation.get('pointer', '')} {violation.get('detail', '')}"
    kind = _KINDS.get(response.status_code, RethreadError)
    return kind(f"{response.status_code}: {detail}", response.status_code, problem)
