"""Errors of calls. The class says what went wrong, the attributes say where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True)
class FieldError:
    """One rule that a request broke.

    Attributes:
      pointer: JSON pointer to the member of the body, or the name of a parameter.
      detail: the rule.
    """

    pointer: str
    detail: str


class RethreadError(Exception):
    """A call that failed. Its subclasses name the reasons.

    Attributes:
      status: the HTTP status; 0 without an answer.
      code: the cause, as in docs/errors.md; empty if unknown. Each has a class of its own in
        `rethread_client.codes`.
      type, title, detail: members of the problem (RFC 9457); empty if it has none.
      errors: all rules that the request broke.
      retry_after: seconds after which the server expects another attempt to
        succeed; None if it did not say.
      request_id: the request's id in the server's log; empty if unknown.
      problem: the whole body of the answer; empty if it is not an object.
      reason: why access to a watched session ended, `revoked` or `expired`; otherwise empty.
    """

    def __init__(
        self, status: int, problem: Mapping[str, Any] | None = None, retry_after: float | None = None
    ) -> None:
        self.problem: dict[str, Any] = dict(problem or {})
        self.status = status
        self.code: str = self._text("code") or _CODES.get(status, "")
        self.type: str = self._text("type") or "about:blank"
        self.title: str = self._text("title")
        # The gateway, which answers where the API does not, has "message".
        self.detail: str = self._text("detail") or self._text("message")
        self.errors: list[FieldError] = _field_errors(self.problem.get("errors"))
        self.retry_after = retry_after
        self.request_id: str = self._text("request_id")
        self.reason = ""
        super().__init__(self.detail or self.title or f"The server answered {status}.")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the error with its attributes: the arguments of its class are not those of Exception."""
        return _restored, (type(self), self.args), vars(self)

    def __str__(self) -> str:
        broken = "".join(f"; {error.pointer} {error.detail}" for error in self.errors)
        return super().__str__() + broken

    def _text(self, member: str) -> str:
        value = self.problem.get(member)
        return value if isinstance(value, str) else ""


class ValidationError(RethreadError):
    """The request is malformed (400) or breaks rules (422); `errors` lists them."""


class UnauthorizedError(RethreadError):
    """The token was rejected (401), also after it was renewed."""


class ForbiddenError(RethreadError):
    """The user has no right to do this (403)."""


class NotFoundError(RethreadError):
    """The resource does not exist (404)."""


class ConflictError(RethreadError):
    """Something is in the way (409)."""

    @property
    def run_id(self) -> str | None:
        """The active run, if that is in the way."""
        return self._text("run_id") or None

    @property
    def event_id(self) -> str | None:
        """The event that is stored with other content, if that is in the way."""
        return self._text("event_id") or None

    @property
    def head_seq(self) -> int | None:
        """The log's newest position, if another one was expected."""
        seq = self.problem.get("head_seq")
        return seq if isinstance(seq, int) else None


class PreconditionFailedError(RethreadError):
    """The resource has changed since the version of `if_match` (412)."""


class RateLimitedError(RethreadError):
    """There were too many requests, or a quota is exhausted (429)."""


class UnavailableError(RethreadError):
    """The server could not answer (502, 503, 504)."""


class NoAnswerError(RethreadError):
    """No answer arrived; whether a write was executed is unknown."""

    def __init__(self, detail: str = "The server cannot be reached.") -> None:
        super().__init__(0, {"detail": detail})


class NoAnswerInTimeError(NoAnswerError):
    """No answer arrived in time; whether a write was executed is unknown."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"No answer within {seconds:g} s.")


# What the gateway means where it answers without a code.
_CODES = {
    401: "unauthorized",
    403: "forbidden",
    404: "route_not_found",
    413: "body_too_large",
    429: "rate_limited",
    500: "internal_error",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}


def _restored(kind: type[RethreadError], args: tuple[Any, ...]) -> RethreadError:
    """Returns an error of a class, which unpickling gives its attributes."""
    error = kind.__new__(kind)
    error.args = args
    return error


def _field_errors(value: object) -> list[FieldError]:
    if not isinstance(value, list):
        return []
    members = [
        cast("dict[str, Any]", entry) for entry in cast("list[object]", value) if isinstance(entry, dict)
    ]
    return [FieldError(str(entry.get("pointer", "")), str(entry.get("detail", ""))) for entry in members]
