package fault

import "slices"

// Code names the cause of a fault for programs. Codes are stable; each has one kind, and
// an entry in docs/errors.md.
type Code string

// The codes of faults, by kind.
const (
	MalformedRequest Code = "malformed_request"
	MalformedField   Code = "malformed_field"
	InvalidCursor    Code = "invalid_cursor"
	BoundaryNotFound Code = "boundary_not_found"

	NoIdentity   Code = "unauthorized"
	TokenExpired Code = "token_expired"

	NoAccess        Code = "forbidden"
	RightRequired   Code = "right_required"
	ShareEnded      Code = "share_ended"
	AppStateClosed  Code = "app_state_closed"
	ServiceRequired Code = "service_required"
	AgentForbidden  Code = "agent_forbidden"

	SessionNotFound    Code = "session_not_found"
	InvocationNotFound Code = "invocation_not_found"
	EventNotFound      Code = "event_not_found"
	RunNotFound        Code = "run_not_found"
	TaskNotFound       Code = "task_not_found"
	ArtifactNotFound   Code = "artifact_not_found"
	ShareNotFound      Code = "share_not_found"
	WebhookNotFound    Code = "webhook_not_found"
	DeliveryNotFound   Code = "delivery_not_found"
	AutomationNotFound Code = "automation_not_found"
	ImportNotFound     Code = "import_not_found"
	ErasureNotFound    Code = "erasure_not_found"
	AgentNotFound      Code = "agent_not_found"
	RouteNotFound      Code = "route_not_found"
	ReferenceBroken    Code = "reference_broken"
	OutcomeGone        Code = "outcome_gone"

	SeqConflict        Code = "seq_conflict"
	EventIDTaken       Code = "event_id_taken"
	SessionExists      Code = "session_exists"
	RunActive          Code = "run_active"
	RunEnded           Code = "run_ended"
	LastRunFailed      Code = "last_run_failed"
	InputsQueued       Code = "inputs_queued"
	QueueFull          Code = "queue_full"
	RunNotExternal     Code = "run_not_external"
	RunRewound         Code = "run_rewound"
	OtherInput         Code = "other_input"
	ItemNotInProgress  Code = "item_not_in_progress"
	OffsetConflict     Code = "offset_conflict"
	SessionRewound     Code = "session_rewound"
	SessionChanged     Code = "session_changed"
	SessionUnreadable  Code = "session_unreadable"
	OwnSession         Code = "own_session"
	LimitReached       Code = "limit_reached"
	WebhookDisabled    Code = "webhook_disabled"
	ImportEnded        Code = "import_ended"
	ImportPartConflict Code = "import_part_conflict"
	RequestInProgress  Code = "request_in_progress"
	NotStarted         Code = "not_started"
	Superseded         Code = "superseded"

	VersionChanged Code = "version_changed"

	BodyTooLarge   Code = "body_too_large"
	AnswerTooLarge Code = "answer_too_large"
	ItemTooLarge   Code = "item_too_large"
	StateTooLarge  Code = "state_too_large"

	InvalidRequest       Code = "invalid_request"
	InvalidField         Code = "invalid_field"
	InvalidReference     Code = "invalid_reference"
	NothingToChange      Code = "nothing_to_change"
	AgentNotConfigured   Code = "agent_not_configured"
	IdempotencyKeyReused Code = "idempotency_key_reused"

	RateLimited   Code = "rate_limited"
	QuotaExceeded Code = "quota_exceeded"

	MethodNotAllowed Code = "method_not_allowed"
	Internal         Code = "internal_error"
	Unavailable      Code = "unavailable"
)

// Cause is a Code, or a Kind, which has default codes.
type Cause interface {
	cause() (Kind, Code)
}

func (k Kind) cause() (Kind, Code) { return k, "" }

func (c Code) cause() (Kind, Code) { return c.Kind(), c }

// Codes returns all codes of a kind; of kind 0, those whose status no kind has.
func Codes(k Kind) []Code {
	switch k {
	case Malformed:
		return []Code{MalformedRequest, MalformedField, InvalidCursor, BoundaryNotFound}
	case Unauthorized:
		return []Code{NoIdentity, TokenExpired}
	case Forbidden:
		return []Code{NoAccess, RightRequired, ShareEnded, AppStateClosed, ServiceRequired, AgentForbidden}
	case NotFound:
		return []Code{SessionNotFound, InvocationNotFound, EventNotFound, RunNotFound, TaskNotFound, ArtifactNotFound, ShareNotFound, WebhookNotFound, DeliveryNotFound, AutomationNotFound, ImportNotFound, ErasureNotFound, AgentNotFound, RouteNotFound, ReferenceBroken, OutcomeGone}
	case Conflict:
		return []Code{SeqConflict, EventIDTaken, SessionExists, RunActive, RunEnded, LastRunFailed, InputsQueued, QueueFull, RunNotExternal, RunRewound, OtherInput, ItemNotInProgress, OffsetConflict, SessionRewound, SessionChanged, SessionUnreadable, OwnSession, LimitReached, WebhookDisabled, ImportEnded, ImportPartConflict, RequestInProgress, NotStarted, Superseded}
	case Precondition:
		return []Code{VersionChanged}
	case TooLarge:
		return []Code{BodyTooLarge, AnswerTooLarge, ItemTooLarge, StateTooLarge}
	case Invalid:
		return []Code{InvalidRequest, InvalidField, InvalidReference, NothingToChange, AgentNotConfigured, IdempotencyKeyReused}
	case Busy:
		return []Code{RateLimited, QuotaExceeded}
	}
	return []Code{MethodNotAllowed, Internal, Unavailable}
}

// Kind returns the kind of a code, 0 if no kind has it.
func (c Code) Kind() Kind {
	for k := Malformed; k <= Busy; k++ {
		if slices.Contains(Codes(k), c) {
			return k
		}
	}
	return 0
}

// CodeOf returns the code of a fault. A fault that was made without one has the default
// of its kind: one code for fields, another for everything else.
func CodeOf(e *Error) Code {
	if e.Code != "" {
		return e.Code
	}
	ofField := len(e.Violations) > 0 && e.Violations[0].Pointer != ""
	switch {
	case e.Kind == Malformed && ofField:
		return MalformedField
	case e.Kind == Malformed:
		return MalformedRequest
	case e.Kind == Unauthorized:
		return NoIdentity
	case e.Kind == Forbidden:
		return NoAccess
	case e.Kind == Precondition:
		return VersionChanged
	case e.Kind == Invalid && ofField:
		return InvalidField
	case e.Kind == Invalid:
		return InvalidRequest
	case e.Kind == Busy:
		return RateLimited
	}
	return Internal
}
