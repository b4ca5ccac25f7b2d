package notification

import "strings"

// PublicTypes returns the types of events that are sent to webhooks and
// automations.
func PublicTypes() []Type {
	return []Type{
		SessionCreated, SessionRewound, SessionForked, SessionDeleted,
		RunStarted, RunCompleted, RunFailed, RunCancelled,
		TaskSaved, FeedbackCreated, ArtifactSaved,
	}
}

// Public reports whether events of the type are sent to others than A2A.
func (t Type) Public() bool { return t != ItemCompleted && t != TaskCancelled }

// Matches reports whether name is the type, or a pattern such as session.* that
// matches it.
func (t Type) Matches(name string) bool {
	if family, ok := strings.CutSuffix(name, ".*"); ok {
		return strings.HasPrefix(string(t), family+".")
	}
	return string(t) == name
}
