package rethread

import "encoding/json"

// Share gives another user, or whoever has its link, access to a session.
type Share struct {
	ID          string `json:"id"`
	SessionID   string `json:"session_id"`
	Kind        string `json:"kind"`    // user or link
	UserID      string `json:"user_id"` // "" of a link
	Access      string `json:"access"`  // read or write
	CreatedTime Time   `json:"created_time"`
	ExpiresTime *Time  `json:"expires_time"` // nil if it does not expire
	// AcceptedCount is how many users have accepted a link and not left since.
	AcceptedCount int64 `json:"accepted_count,omitempty"`
	// Token is that of a link, in the answer to its creation only.
	Token string `json:"token,omitempty"`
}

// ShareRequest describes a share: with a user, or without one a link.
type ShareRequest struct {
	Access    string `json:"access"` // read or write
	UserID    string `json:"user_id,omitempty"`
	ExpiresIn int64  `json:"expires_in,omitempty"` // seconds
}

// Accepted is the access by an accepted share.
type Accepted struct {
	SessionID   string `json:"session_id"`
	Access      string `json:"access"`
	ExpiresTime *Time  `json:"expires_time"`
}

// Quota is a use and its limit; nil means unlimited.
type Quota struct {
	Used  int64  `json:"used"`
	Limit *int64 `json:"limit"`
}

// Usage is what the user has in use.
type Usage struct {
	Sessions Quota `json:"sessions"`
	Runs     Quota `json:"runs"`
	Bytes    Quota `json:"bytes"`
	Streams  Quota `json:"streams"`
}

// Erasure is the deletion of all of a user's data.
type Erasure struct {
	Status      string           `json:"status"` // in_progress or complete
	StartedTime Time             `json:"started_time"`
	EndedTime   *Time            `json:"ended_time"`
	Removed     map[string]int64 `json:"removed"` // numbers of deleted items by kind
}

// ImportProgress says which part of a document is next.
type ImportProgress struct {
	ImportID    string `json:"import_id"`
	SessionID   string `json:"session_id"`
	NextPart    int64  `json:"next_part"`
	ExpiresTime Time   `json:"expires_time"`
}

// Webhook receives events over HTTP.
type Webhook struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Description    string   `json:"description"`
	Types          []string `json:"types"`
	Agents         []string `json:"agents"`
	SessionIDs     []string `json:"session_ids"`
	Status         string   `json:"status"`          // active or disabled
	DisabledReason string   `json:"disabled_reason"` // "" while it is active
	CreatedTime    Time     `json:"created_time"`
	UpdatedTime    Time     `json:"updated_time"`
	Secret         string   `json:"secret,omitempty"` // in the answer to its creation only
}

// WebhookRequest describes a webhook. An empty filter selects all.
type WebhookRequest struct {
	URL         string   `json:"url"` // https
	Description string   `json:"description,omitempty"`
	Types       []string `json:"types,omitempty"` // such as run.completed or run.*
	Agents      []string `json:"agents,omitempty"`
	SessionIDs  []string `json:"session_ids,omitempty"`
	Secret      string   `json:"secret,omitempty"` // whsec_…; by default generated
}

// WebhookChange replaces the given members.
type WebhookChange struct {
	URL         *string  `json:"url,omitempty"`
	Description *string  `json:"description,omitempty"`
	Types       []string `json:"types,omitzero"`
	Agents      []string `json:"agents,omitzero"`
	SessionIDs  []string `json:"session_ids,omitzero"`
	Status      string   `json:"status,omitempty"` // active or disabled
}

// SecretRotation says how to replace a webhook's secret.
type SecretRotation struct {
	Secret string `json:"secret,omitempty"` // by default generated
	Revoke bool   `json:"revoke,omitempty"` // end the previous ones at once
}

// WebhookSecret is a webhook's secret. Previous are those still used for signatures.
type WebhookSecret struct {
	Secret      string `json:"secret"`
	CreatedTime Time   `json:"created_time"`
	Previous    []struct {
		ExpiresTime Time `json:"expires_time"`
	} `json:"previous"`
}

// Delivery is an event for a webhook, and the attempts to send it.
type Delivery struct {
	ID              string    `json:"id"`
	WebhookID       string    `json:"webhook_id"`
	EventID         string    `json:"event_id"`
	EventType       string    `json:"event_type"`
	SessionID       string    `json:"session_id"` // "" of an event without a session
	State           string    `json:"state"`      // pending, delivered or failed
	Tries           int64     `json:"tries"`
	Attempts        []Attempt `json:"attempts"`
	NextAttemptTime *Time     `json:"next_attempt_time"`
	CreatedTime     Time      `json:"created_time"`
	// Event is the CloudEvent that is sent; nil except of a delivery that is read by its id.
	Event json.RawMessage `json:"event,omitempty"`
}

// Attempt is one attempt of a delivery. Status is nil if no answer arrived.
type Attempt struct {
	Time       Time   `json:"time"`
	DurationMS int64  `json:"duration_ms"`
	Status     *int64 `json:"status"`
	Reason     string `json:"reason"` // "" if it succeeded
}

// Automation starts a run when something happens.
type Automation struct {
	ID             string            `json:"id"`
	Name           string            `json:"name"`
	On             AutomationTrigger `json:"on"`
	Do             AutomationAction  `json:"do"`
	Status         string            `json:"status"`          // active or disabled
	DisabledReason string            `json:"disabled_reason"` // "" while it is active
	CreatedTime    Time              `json:"created_time"`
	UpdatedTime    Time              `json:"updated_time"`
	// LastRuns is nil except of an automation that is read by its id.
	LastRuns []AutomationRun `json:"last_runs,omitempty"`
}

// AutomationRun is a run that an automation started, or tries to start.
type AutomationRun struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	EventType string `json:"event_type"`
	Time      Time   `json:"time"`
}

// AutomationTrigger selects events. An empty list selects all.
type AutomationTrigger struct {
	Types         []string `json:"types"`
	Agents        []string `json:"agents,omitempty"`
	SessionIDs    []string `json:"session_ids,omitempty"`
	FeedbackTypes []string `json:"feedback_types,omitempty"` // up, down
}

// AutomationAction is the run that an automation starts.
type AutomationAction struct {
	Agent    string `json:"agent"`
	Session  string `json:"session,omitempty"` // same or new
	Input    string `json:"input"`
	OnActive string `json:"on_active,omitempty"` // as in RunRequest
}

// AutomationRequest describes an automation.
type AutomationRequest struct {
	Name   string            `json:"name,omitempty"`
	On     AutomationTrigger `json:"on"`
	Do     AutomationAction  `json:"do"`
	Status string            `json:"status,omitempty"` // active (the default) or disabled
}

// AutomationChange replaces the given members.
type AutomationChange struct {
	Name   *string            `json:"name,omitempty"`
	On     *AutomationTrigger `json:"on,omitempty"`
	Do     *AutomationAction  `json:"do,omitempty"`
	Status string             `json:"status,omitempty"`
}
