// Errors by their codes: docs/errors.md says what each means and what to do.

import type { ErrorCode } from '../types.js';
import {
  ConflictError,
  ForbiddenError,
  NotFoundError,
  PreconditionFailedError,
  RateLimitedError,
  RethreadError,
  UnauthorizedError,
  UnavailableError,
  ValidationError,
} from './errors.js';

/** The body or the query cannot be read. */
export class MalformedRequestError extends ValidationError {}

/** A required member or parameter is missing, or one has the wrong type. */
export class MalformedFieldError extends ValidationError {}

/** The cursor is not one that this list or stream gave. */
export class InvalidCursorError extends ValidationError {}

/** A fork with strict names an invocation that is not in the log. */
export class BoundaryNotFoundError extends ValidationError {}

/** The token with which a websocket or a stream was opened has expired. */
export class TokenExpiredError extends UnauthorizedError {}

/** You have access, but this takes another right, which detail names. */
export class RightRequiredError extends ForbiddenError {}

/** The share that gave access was revoked or expired during the request. */
export class ShareEndedError extends ForbiddenError {}

/** Only agents and services write state of the app (app:) in this deployment. */
export class AppStateClosedError extends ForbiddenError {}

/** Rethread-User came with a token that is no service's. */
export class ServiceRequiredError extends ForbiddenError {}

/** The agent is configured, but not for you. */
export class AgentForbiddenError extends ForbiddenError {}

/** No session has this id, or it was deleted. */
export class SessionNotFoundError extends NotFoundError {}

/** No entry of the log has this invocation id. */
export class InvocationNotFoundError extends NotFoundError {}

/** The response has no item with this id. */
export class EventNotFoundError extends NotFoundError {}

/** The session has no run with this id. */
export class RunNotFoundError extends NotFoundError {}

/** No task with this id is shown. */
export class TaskNotFoundError extends NotFoundError {}

/** No artifact, or no version of it, has this name. */
export class ArtifactNotFoundError extends NotFoundError {}

/** The artifact refers to a version that was deleted with its session. */
export class ReferenceBrokenError extends NotFoundError {}

/** No open share has this id or token. */
export class ShareNotFoundError extends NotFoundError {}

/** You have no webhook with this id. */
export class WebhookNotFoundError extends NotFoundError {}

/** No delivery with this id is recorded any more. */
export class DeliveryNotFoundError extends NotFoundError {}

/** You have no automation with this id. */
export class AutomationNotFoundError extends NotFoundError {}

/** No import with this id, or another user's. */
export class ImportNotFoundError extends NotFoundError {}

/** No erasure of this user was asked for. */
export class ErasureNotFoundError extends NotFoundError {}

/** No agent with this name is configured, or not for everybody. */
export class AgentNotFoundError extends NotFoundError {}

/** There is nothing at this path. */
export class RouteNotFoundError extends NotFoundError {}

/** A request with this Idempotency-Key was carried out, and what it made was deleted since. */
export class OutcomeGoneError extends NotFoundError {}

/** The path has other methods, which Allow lists. */
export class MethodNotAllowedError extends RethreadError {}

/** The log has another head than expected_seq. */
export class SeqConflictError extends ConflictError {}

/** The event id was used for other content. */
export class EventIdTakenError extends ConflictError {}

/** A session has this id. */
export class SessionExistsError extends ConflictError {}

/** A run is in progress. */
export class RunActiveError extends ConflictError {}

/** The run is over. */
export class RunEndedError extends ConflictError {}

/** The last run, run_id, failed and blocks the session, as its on_failed says. */
export class LastRunFailedError extends ConflictError {}

/** Inputs wait in the queue, and the next one, run_id, is about to start. */
export class InputsQueuedError extends ConflictError {}

/** No more input can be added before the run ends. */
export class QueueFullError extends ConflictError {}

/** Only external runs are written to, and this one is executed by Rethread. */
export class RunNotExternalError extends ConflictError {}

/** The run that the request repeats was rewound or discarded. */
export class RunRewoundError extends ConflictError {}

/** The run with this id, or this Idempotency-Key, began with other input. */
export class OtherInputError extends ConflictError {}

/** The item, item_id, is complete or not begun, so nothing can be added to it. */
export class ItemNotInProgressError extends ConflictError {}

/** The item has another number of deltas. */
export class OffsetConflictError extends ConflictError {}

/** The session was rewound since the cursor was given. */
export class SessionRewoundError extends ConflictError {}

/** The session changed while it was exported. */
export class SessionChangedError extends ConflictError {}

/** A stored part of the session cannot be read, so that the answer would not be whole. */
export class SessionUnreadableError extends ConflictError {}

/** The session is yours, and only guests leave one. */
export class OwnSessionError extends ConflictError {}

/** A fixed number of things is reached. */
export class LimitReachedError extends ConflictError {}

/** The webhook is disabled, so nothing is sent again. */
export class WebhookDisabledError extends ConflictError {}

/** The import is complete or was abandoned. */
export class ImportEndedError extends ConflictError {}

/** Another part is expected, next_part, or this part began with other content. */
export class ImportPartConflictError extends ConflictError {}

/** A request with this Idempotency-Key is being carried out. */
export class RequestInProgressError extends ConflictError {}

/** Runs were started under this Idempotency-Key, and no worker took any. */
export class NotStartedError extends ConflictError {}

/** Another worker or stream has taken the place of this one. */
export class SupersededError extends ConflictError {}

/** If-Match names another version than the current one. */
export class VersionChangedError extends PreconditionFailedError {}

/** The request has more bytes than detail allows. */
export class BodyTooLargeError extends RethreadError {}

/** The answer would be larger than 6 MB. */
export class AnswerTooLargeError extends RethreadError {}

/** A streamed item has reached its limit. */
export class ItemTooLargeError extends RethreadError {}

/** The state of a scope would exceed its limit. */
export class StateTooLargeError extends RethreadError {}

/** A member breaks a rule. */
export class InvalidFieldError extends ValidationError {}

/** The request as a whole breaks a rule, which detail names. */
export class InvalidRequestError extends ValidationError {}

/** The reference to an artifact has a wrong form, or names what you cannot read. */
export class InvalidReferenceError extends ValidationError {}

/** A PATCH names no member that can be changed. */
export class NothingToChangeError extends ValidationError {}

/** A managed run needs an agent of the configuration, and the one named is none. */
export class AgentNotConfiguredError extends ValidationError {}

/** The Idempotency-Key was used for another body within 24 hours. */
export class IdempotencyKeyReusedError extends ValidationError {}

/** A quota of the user is used up. */
export class QuotaExceededError extends RateLimitedError {}

/** An error of the server. */
export class InternalError extends RethreadError {}

/** The class of each code. */
export const ERRORS_BY_CODE: Record<ErrorCode, typeof RethreadError> = {
  malformed_request: MalformedRequestError,
  malformed_field: MalformedFieldError,
  invalid_cursor: InvalidCursorError,
  boundary_not_found: BoundaryNotFoundError,
  unauthorized: UnauthorizedError,
  token_expired: TokenExpiredError,
  forbidden: ForbiddenError,
  right_required: RightRequiredError,
  share_ended: ShareEndedError,
  app_state_closed: AppStateClosedError,
  service_required: ServiceRequiredError,
  agent_forbidden: AgentForbiddenError,
  session_not_found: SessionNotFoundError,
  invocation_not_found: InvocationNotFoundError,
  event_not_found: EventNotFoundError,
  run_not_found: RunNotFoundError,
  task_not_found: TaskNotFoundError,
  artifact_not_found: ArtifactNotFoundError,
  reference_broken: ReferenceBrokenError,
  share_not_found: ShareNotFoundError,
  webhook_not_found: WebhookNotFoundError,
  delivery_not_found: DeliveryNotFoundError,
  automation_not_found: AutomationNotFoundError,
  import_not_found: ImportNotFoundError,
  erasure_not_found: ErasureNotFoundError,
  agent_not_found: AgentNotFoundError,
  route_not_found: RouteNotFoundError,
  outcome_gone: OutcomeGoneError,
  method_not_allowed: MethodNotAllowedError,
  seq_conflict: SeqConflictError,
  event_id_taken: EventIdTakenError,
  session_exists: SessionExistsError,
  run_active: RunActiveError,
  run_ended: RunEndedError,
  last_run_failed: LastRunFailedError,
  inputs_queued: InputsQueuedError,
  queue_full: QueueFullError,
  run_not_external: RunNotExternalError,
  run_rewound: RunRewoundError,
  other_input: OtherInputError,
  item_not_in_progress: ItemNotInProgressError,
  offset_conflict: OffsetConflictError,
  session_rewound: SessionRewoundError,
  session_changed: SessionChangedError,
  session_unreadable: SessionUnreadableError,
  own_session: OwnSessionError,
  limit_reached: LimitReachedError,
  webhook_disabled: WebhookDisabledError,
  import_ended: ImportEndedError,
  import_part_conflict: ImportPartConflictError,
  request_in_progress: RequestInProgressError,
  not_started: NotStartedError,
  superseded: SupersededError,
  version_changed: VersionChangedError,
  body_too_large: BodyTooLargeError,
  answer_too_large: AnswerTooLargeError,
  item_too_large: ItemTooLargeError,
  state_too_large: StateTooLargeError,
  invalid_field: InvalidFieldError,
  invalid_request: InvalidRequestError,
  invalid_reference: InvalidReferenceError,
  nothing_to_change: NothingToChangeError,
  agent_not_configured: AgentNotConfiguredError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  rate_limited: RateLimitedError,
  quota_exceeded: QuotaExceededError,
  internal_error: InternalError,
  unavailable: UnavailableError,
};
