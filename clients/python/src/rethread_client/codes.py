"""Errors by their codes: docs/errors.md says what each means and what to do."""

from __future__ import annotations

from typing import Any, cast

from .errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
    RateLimitedError,
    RethreadError,
    UnauthorizedError,
    UnavailableError,
    ValidationError,
)


class MalformedRequestError(ValidationError):
    """The body or the query cannot be read."""


class MalformedFieldError(ValidationError):
    """A required member or parameter is missing, or one has the wrong type."""


class InvalidCursorError(ValidationError):
    """The cursor is not one that this list or stream gave."""


class BoundaryNotFoundError(ValidationError):
    """A fork with strict names an invocation that is not in the log."""


class TokenExpiredError(UnauthorizedError):
    """The token with which a websocket or a stream was opened has expired."""


class RightRequiredError(ForbiddenError):
    """You have access, but this takes another right, which detail names."""


class ShareEndedError(ForbiddenError):
    """The share that gave access was revoked or expired during the request."""


class AppStateClosedError(ForbiddenError):
    """Only agents and services write state of the app (app:) in this deployment."""


class ServiceRequiredError(ForbiddenError):
    """Rethread-User came with a token that is no service's."""


class AgentForbiddenError(ForbiddenError):
    """The agent is configured, but not for you."""


class SessionNotFoundError(NotFoundError):
    """No session has this id, or it was deleted."""


class InvocationNotFoundError(NotFoundError):
    """No entry of the log has this invocation id."""


class EventNotFoundError(NotFoundError):
    """The response has no item with this id."""


class RunNotFoundError(NotFoundError):
    """The session has no run with this id."""


class TaskNotFoundError(NotFoundError):
    """No task with this id is shown."""


class ArtifactNotFoundError(NotFoundError):
    """No artifact, or no version of it, has this name."""


class ReferenceBrokenError(NotFoundError):
    """The artifact refers to a version that was deleted with its session."""


class ShareNotFoundError(NotFoundError):
    """No open share has this id or token."""


class WebhookNotFoundError(NotFoundError):
    """You have no webhook with this id."""


class DeliveryNotFoundError(NotFoundError):
    """No delivery with this id is recorded any more."""


class AutomationNotFoundError(NotFoundError):
    """You have no automation with this id."""


class ImportNotFoundError(NotFoundError):
    """No import with this id, or another user's."""


class ErasureNotFoundError(NotFoundError):
    """No erasure of this user was asked for."""


class AgentNotFoundError(NotFoundError):
    """No agent with this name is configured, or not for everybody."""


class RouteNotFoundError(NotFoundError):
    """There is nothing at this path."""


class OutcomeGoneError(NotFoundError):
    """A request with this Idempotency-Key was carried out, and what it made was deleted since."""


class MethodNotAllowedError(RethreadError):
    """The path has other methods, which Allow lists."""


class SeqConflictError(ConflictError):
    """The log has another head than expected_seq."""


class EventIdTakenError(ConflictError):
    """The event id was used for other content."""


class SessionExistsError(ConflictError):
    """A session has this id."""


class RunActiveError(ConflictError):
    """A run is in progress."""


class RunEndedError(ConflictError):
    """The run is over."""


class LastRunFailedError(ConflictError):
    """The last run, run_id, failed and blocks the session, as its on_failed says."""


class InputsQueuedError(ConflictError):
    """Inputs wait in the queue, and the next one, run_id, is about to start."""


class QueueFullError(ConflictError):
    """No more input can be added before the run ends."""


class RunNotExternalError(ConflictError):
    """Only external runs are written to, and this one is executed by Rethread."""


class RunRewoundError(ConflictError):
    """The run that the request repeats was rewound or discarded."""


class OtherInputError(ConflictError):
    """The run with this id, or this Idempotency-Key, began with other input."""


class ItemNotInProgressError(ConflictError):
    """The item, item_id, is complete or not begun, so nothing can be added to it."""


class OffsetConflictError(ConflictError):
    """The item has another number of deltas."""


class SessionRewoundError(ConflictError):
    """The session was rewound since the cursor was given."""


class SessionChangedError(ConflictError):
    """The session changed while it was exported."""


class SessionUnreadableError(ConflictError):
    """A stored part of the session cannot be read, so that the answer would not be whole."""


class OwnSessionError(ConflictError):
    """The session is yours, and only guests leave one."""


class LimitReachedError(ConflictError):
    """A fixed number of things is reached."""


class WebhookDisabledError(ConflictError):
    """The webhook is disabled, so nothing is sent again."""


class ImportEndedError(ConflictError):
    """The import is complete or was abandoned."""


class ImportPartConflictError(ConflictError):
    """Another part is expected, next_part, or this part began with other content."""


class RequestInProgressError(ConflictError):
    """A request with this Idempotency-Key is being carried out."""


class NotStartedError(ConflictError):
    """Runs were started under this Idempotency-Key, and no worker took any."""


class SupersededError(ConflictError):
    """Another worker or stream has taken the place of this one."""


class VersionChangedError(PreconditionFailedError):
    """If-Match names another version than the current one."""


class BodyTooLargeError(RethreadError):
    """The request has more bytes than detail allows."""


class AnswerTooLargeError(RethreadError):
    """The answer would be larger than 6 MB."""


class ItemTooLargeError(RethreadError):
    """A streamed item has reached its limit."""


class StateTooLargeError(RethreadError):
    """The state of a scope would exceed its limit."""


class InvalidFieldError(ValidationError):
    """A member breaks a rule."""


class InvalidRequestError(ValidationError):
    """The request as a whole breaks a rule, which detail names."""


class InvalidReferenceError(ValidationError):
    """The reference to an artifact has a wrong form, or names what you cannot read."""


class NothingToChangeError(ValidationError):
    """A PATCH names no member that can be changed."""


class AgentNotConfiguredError(ValidationError):
    """A managed run needs an agent of the configuration, and the one named is none."""


class IdempotencyKeyReusedError(ValidationError):
    """The Idempotency-Key was used for another body within 24 hours."""


class QuotaExceededError(RateLimitedError):
    """A quota of the user is used up."""


class InternalError(RethreadError):
    """An error of the server."""


BY_CODE: dict[str, type[RethreadError]] = {
    "malformed_request": MalformedRequestError,
    "malformed_field": MalformedFieldError,
    "invalid_cursor": InvalidCursorError,
    "boundary_not_found": BoundaryNotFoundError,
    "unauthorized": UnauthorizedError,
    "token_expired": TokenExpiredError,
    "forbidden": ForbiddenError,
    "right_required": RightRequiredError,
    "share_ended": ShareEndedError,
    "app_state_closed": AppStateClosedError,
    "service_required": ServiceRequiredError,
    "agent_forbidden": AgentForbiddenError,
    "session_not_found": SessionNotFoundError,
    "invocation_not_found": InvocationNotFoundError,
    "event_not_found": EventNotFoundError,
    "run_not_found": RunNotFoundError,
    "task_not_found": TaskNotFoundError,
    "artifact_not_found": ArtifactNotFoundError,
    "reference_broken": ReferenceBrokenError,
    "share_not_found": ShareNotFoundError,
    "webhook_not_found": WebhookNotFoundError,
    "delivery_not_found": DeliveryNotFoundError,
    "automation_not_found": AutomationNotFoundError,
    "import_not_found": ImportNotFoundError,
    "erasure_not_found": ErasureNotFoundError,
    "agent_not_found": AgentNotFoundError,
    "route_not_found": RouteNotFoundError,
    "outcome_gone": OutcomeGoneError,
    "method_not_allowed": MethodNotAllowedError,
    "seq_conflict": SeqConflictError,
    "event_id_taken": EventIdTakenError,
    "session_exists": SessionExistsError,
    "run_active": RunActiveError,
    "run_ended": RunEndedError,
    "last_run_failed": LastRunFailedError,
    "inputs_queued": InputsQueuedError,
    "queue_full": QueueFullError,
    "run_not_external": RunNotExternalError,
    "run_rewound": RunRewoundError,
    "other_input": OtherInputError,
    "item_not_in_progress": ItemNotInProgressError,
    "offset_conflict": OffsetConflictError,
    "session_rewound": SessionRewoundError,
    "session_changed": SessionChangedError,
    "session_unreadable": SessionUnreadableError,
    "own_session": OwnSessionError,
    "limit_reached": LimitReachedError,
    "webhook_disabled": WebhookDisabledError,
    "import_ended": ImportEndedError,
    "import_part_conflict": ImportPartConflictError,
    "request_in_progress": RequestInProgressError,
    "not_started": NotStartedError,
    "superseded": SupersededError,
    "version_changed": VersionChangedError,
    "body_too_large": BodyTooLargeError,
    "answer_too_large": AnswerTooLargeError,
    "item_too_large": ItemTooLargeError,
    "state_too_large": StateTooLargeError,
    "invalid_field": InvalidFieldError,
    "invalid_request": InvalidRequestError,
    "invalid_reference": InvalidReferenceError,
    "nothing_to_change": NothingToChangeError,
    "agent_not_configured": AgentNotConfiguredError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "rate_limited": RateLimitedError,
    "quota_exceeded": QuotaExceededError,
    "internal_error": InternalError,
    "unavailable": UnavailableError,
}
"""The class of each code."""

_BY_STATUS: dict[int, type[RethreadError]] = {
    400: ValidationError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    422: ValidationError,
    429: RateLimitedError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def error_for(status: int, body: object, retry_after: float | None) -> RethreadError:
    """Returns the error for an answer with a parsed body: of the class of its code or,
    without a known one, of its status."""
    problem = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    kind = BY_CODE.get(str(problem.get("code"))) or _BY_STATUS.get(status, RethreadError)
    return kind(status, problem, retry_after)
