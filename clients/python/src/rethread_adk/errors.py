"""What can go wrong between an agent and Rethread.

Where ADK has an error of its own for a situation (a stale session, an unknown
invocation), the services raise that one, caused by the error given here.
"""

from __future__ import annotations

from typing import Any

import httpx
from google.adk.errors.input_validation_error import InputValidationError


class RethreadError(Exception):
    """An answer that is no success, or none at all.

    Attributes:
      status: the HTTP status; 0 where no answer came.
      problem: the body of the answer (RFC 9457), empty where it had none.
    """

    def __init__(self, detail: str, status: int = 0, problem: dict[str, Any] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.problem = problem or {}


class InvalidError(RethreadError, InputValidationError):
    """The request breaks a rule or a limit (400, 413, 422)."""


class DeniedError(RethreadError, PermissionError):
    """No identity, or that of somebody else (401, 403)."""


class UnavailableError(RethreadError, ConnectionError):
    """No answer, or one that says to come back later, after all retries."""


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
    """The error that an answer stands for."""
    problem: dict[str, Any] = {}
    try:
        body = response.json()
    except ValueError:  # a gateway's own page
        body = None
    if isinstance(body, dict):
        problem = body
    # Gateways say "message" where Rethread says "detail".
    detail = problem.get("detail") or problem.get("message") or response.reason_phrase
    for violation in problem.get("errors") or []:
        detail += f"; {violation.get('pointer', '')} {violation.get('detail', '')}"
    kind = _KINDS.get(response.status_code, RethreadError)
    return kind(f"{response.status_code}: {detail}", response.status_code, problem)
