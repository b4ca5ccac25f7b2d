package rethread

// CodeError is the code of a failed call, which names its cause:
// errors.Is(err, rethread.ErrRunActive). What each means, and what to do, is in
// docs/errors.md. Later versions of the server may add some.
type CodeError string

// Error implements error.
func (c CodeError) Error() string { return string(c) }

// The codes of errors, besides unauthorized, forbidden, rate_limited and unavailable, for
// which the reasons ErrUnauthorized … stand.
const (
	ErrMalformedRequest     CodeError = "malformed_request"      // The body or the query cannot be read.
	ErrMalformedField       CodeError = "malformed_field"        // A required member or parameter is missing, or one has the wrong type.
	ErrInvalidCursor        CodeError = "invalid_cursor"         // The cursor is not one that this list or stream gave.
	ErrBoundaryNotFound     CodeError = "boundary_not_found"     // A fork with strict names an invocation that is not in the log.
	ErrTokenExpired         CodeError = "token_expired"          // The token with which a websocket or a stream was opened has expired.
	ErrRightRequired        CodeError = "right_required"         // You have access, but this takes another right, which detail names.
	ErrShareEnded           CodeError = "share_ended"            // The share that gave access was revoked or expired during the request.
	ErrAppStateClosed       CodeError = "app_state_closed"       // Only agents and services write state of the app (app:) in this deployment.
	ErrServiceRequired      CodeError = "service_required"       // Rethread-User came with a token that is no service's.
	ErrAgentForbidden       CodeError = "agent_forbidden"        // The agent is configured, but not for you.
	ErrSessionNotFound      CodeError = "session_not_found"      // No session has this id, or it was deleted.
	ErrInvocationNotFound   CodeError = "invocation_not_found"   // No entry of the log has this invocation id.
	ErrEventNotFound        CodeError = "event_not_found"        // The response has no item with this id.
	ErrRunNotFound          CodeError = "run_not_found"          // The session has no run with this id.
	ErrTaskNotFound         CodeError = "task_not_found"         // No task with this id is shown.
	ErrArtifactNotFound     CodeError = "artifact_not_found"     // No artifact, or no version of it, has this name.
	ErrReferenceBroken      CodeError = "reference_broken"       // The artifact refers to a version that was deleted with its session.
	ErrShareNotFound        CodeError = "share_not_found"        // No open share has this id or token.
	ErrWebhookNotFound      CodeError = "webhook_not_found"      // You have no webhook with this id.
	ErrDeliveryNotFound     CodeError = "delivery_not_found"     // No delivery with this id is recorded any more.
	ErrAutomationNotFound   CodeError = "automation_not_found"   // You have no automation with this id.
	ErrImportNotFound       CodeError = "import_not_found"       // No import with this id, or another user's.
	ErrErasureNotFound      CodeError = "erasure_not_found"      // No erasure of this user was asked for.
	ErrAgentNotFound        CodeError = "agent_not_found"        // No agent with this name is configured, or not for everybody.
	ErrRouteNotFound        CodeError = "route_not_found"        // There is nothing at this path.
	ErrOutcomeGone          CodeError = "outcome_gone"           // A request with this Idempotency-Key was carried out, and what it made was deleted since.
	ErrMethodNotAllowed     CodeError = "method_not_allowed"     // The path has other methods, which Allow lists.
	ErrSeqConflict          CodeError = "seq_conflict"           // The log has another head than expected_seq.
	ErrEventIDTaken         CodeError = "event_id_taken"         // The event id was used for other content.
	ErrSessionExists        CodeError = "session_exists"         // A session has this id.
	ErrRunActive            CodeError = "run_active"             // A run is in progress.
	ErrRunEnded             CodeError = "run_ended"              // The run is over.
	ErrLastRunFailed        CodeError = "last_run_failed"        // The last run, run_id, failed and blocks the session, as its on_failed says.
	ErrInputsQueued         CodeError = "inputs_queued"          // Inputs wait in the queue, and the next one, run_id, is about to start.
	ErrQueueFull            CodeError = "queue_full"             // No more input can be added before the run ends.
	ErrRunNotExternal       CodeError = "run_not_external"       // Only external runs are written to, and this one is executed by Rethread.
	ErrRunRewound           CodeError = "run_rewound"            // The run that the request repeats was rewound or discarded.
	ErrOtherInput           CodeError = "other_input"            // The run with this id, or this Idempotency-Key, began with other input.
	ErrItemNotInProgress    CodeError = "item_not_in_progress"   // The item, item_id, is complete or not begun, so nothing can be added to it.
	ErrOffsetConflict       CodeError = "offset_conflict"        // The item has another number of deltas.
	ErrSessionRewound       CodeError = "session_rewound"        // The session was rewound since the cursor was given.
	ErrSessionChanged       CodeError = "session_changed"        // The session changed while it was exported.
	ErrSessionUnreadable    CodeError = "session_unreadable"     // A stored part of the session cannot be read, so that the answer would not be whole.
	ErrOwnSession           CodeError = "own_session"            // The session is yours, and only guests leave one.
	ErrLimitReached         CodeError = "limit_reached"          // A fixed number of things is reached.
	ErrWebhookDisabled      CodeError = "webhook_disabled"       // The webhook is disabled, so nothing is sent again.
	ErrImportEnded          CodeError = "import_ended"           // The import is complete or was abandoned.
	ErrImportPartConflict   CodeError = "import_part_conflict"   // Another part is expected, next_part, or this part began with other content.
	ErrRequestInProgress    CodeError = "request_in_progress"    // A request with this Idempotency-Key is being carried out.
	ErrNotStarted           CodeError = "not_started"            // Runs were started under this Idempotency-Key, and no worker took any.
	ErrSuperseded           CodeError = "superseded"             // Another worker or stream has taken the place of this one.
	ErrVersionChanged       CodeError = "version_changed"        // If-Match names another version than the current one.
	ErrBodyTooLarge         CodeError = "body_too_large"         // The request has more bytes than detail allows.
	ErrAnswerTooLarge       CodeError = "answer_too_large"       // The answer would be larger than 6 MB.
	ErrItemTooLarge         CodeError = "item_too_large"         // A streamed item has reached its limit.
	ErrStateTooLarge        CodeError = "state_too_large"        // The state of a scope would exceed its limit.
	ErrInvalidField         CodeError = "invalid_field"          // A member breaks a rule.
	ErrInvalidRequest       CodeError = "invalid_request"        // The request as a whole breaks a rule, which detail names.
	ErrInvalidReference     CodeError = "invalid_reference"      // The reference to an artifact has a wrong form, or names what you cannot read.
	ErrNothingToChange      CodeError = "nothing_to_change"      // A PATCH names no member that can be changed.
	ErrAgentNotConfigured   CodeError = "agent_not_configured"   // A managed run needs an agent of the configuration, and the one named is none.
	ErrIdempotencyKeyReused CodeError = "idempotency_key_reused" // The Idempotency-Key was used for another body within 24 hours.
	ErrQuotaExceeded        CodeError = "quota_exceeded"         // A quota of the user is used up.
	ErrInternalError        CodeError = "internal_error"         // An error of the server.
)
