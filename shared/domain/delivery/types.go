package delivery

import "strings"

// PublicTypes are the types of events that others than A2A may be told of.
func PublicTypes() []Type {
	return []Type{
		SessionCreated, SessionRewound, SessionForked, SessionDeleted,
		RunStarted, RunCompleted, RunFailed, RunCancelled,
		TaskSaved, FeedbackCreated, ArtifactSaved,
	}
}

// Public reports whether others than A2A are told of events of the type.
func (t Type) Public() bool { return t != ItemCompleted && t != TaskCancelled }

// Matches reports whether the type is the one that is named or, named as
// session.*, one of those that begin so.
func (t Type) Matches(name string) bool {
	if family, ok := strings.CutSuffix(name, ".*"); ok {
		return strings.HasPrefix(string(t), family+".")
	}
	return string(t) == name
}
