package receiver

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/ids"
)

// PushKind is the kind of the targets that push configurations are.
const PushKind delivery.Kind = "a2a"

// Limits of configurations. Lengths are in bytes.
const (
	MaxPushConfigs     = 10 // of one task
	MaxPushToken       = 1024
	MaxPushScheme      = 64
	MaxPushCredentials = 4096
)

// PushConfig is an address of one client of a task, and how to send to it.
type PushConfig struct {
	ID  string
	URL string
	// Token is sent unchanged, so that the receiver can recognise its request.
	Token string
	// Scheme and Credentials form the Authorization header.
	Scheme, Credentials string
	// Version is the protocol version of the configuration, "1.0" or "0.3";
	// notifications have the same version.
	Version string
	// Since is when the configuration takes effect, in epoch milliseconds: earlier
	// events are not sent. 0 sends all.
	Since int64
}

// Validate returns a fault that names the field that breaks a rule. It does not
// check where the address leads.
func (c PushConfig) Validate() error {
	if err := ids.CheckNew("id", c.ID); err != nil {
		return err
	}
	for _, f := range []struct {
		name, value string
		most        int
	}{
		{"url", c.URL, MaxURL},
		{"token", c.Token, MaxPushToken},
		{"authentication.scheme", c.Scheme, MaxPushScheme},
		{"authentication.credentials", c.Credentials, MaxPushCredentials},
	} {
		switch {
		case len(f.value) > f.most:
			return fault.Field(fault.Invalid, f.name, "must be at most %d bytes", f.most)
		case !printable(f.value):
			return fault.Field(fault.Invalid, f.name, "must be of visible ASCII characters and blanks")
		}
	}
	switch {
	case c.URL == "":
		return fault.Field(fault.Malformed, "url", "is required")
	case strings.ContainsAny(c.Scheme, " ,;=\""):
		return fault.Field(fault.Invalid, "authentication.scheme", "must be one word")
	case c.Credentials != "" && c.Scheme == "":
		return fault.Field(fault.Invalid, "authentication.scheme", "must say what the credentials are for")
	}
	return nil
}

// printable reports whether text is valid in a header.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == utf8.RuneError })
}

// PushTask identifies a task.
type PushTask struct {
	UserID    string
	SessionID string
	ID        string
}

// Pushes stores push configurations. They are deleted with their session. A session
// of another user returns the faults of session.Store.
type Pushes interface {
	// PutConfig adds a configuration to a task or replaces the one with the same
	// id; fault.LimitReached if the task has MaxConfigs others.
	PutConfig(ctx context.Context, t PushTask, c PushConfig) error
	// Configs returns a task's configurations, sorted by id.
	Configs(ctx context.Context, t PushTask) ([]PushConfig, error)
	// DeleteConfig deletes a configuration; a missing one is no error.
	DeleteConfig(ctx context.Context, t PushTask, id string) error
	// ContinueTask records that a run with another id than the task's belongs to
	// the task. It must be called before the run begins.
	ContinueTask(ctx context.Context, t PushTask, runID string) error
}

// PushTargets reads the configurations that notifications are sent to.
type PushTargets interface {
	// TargetConfig reads a target's configuration; delivery.ErrGone if it does not
	// exist any more.
	TargetConfig(ctx context.Context, t delivery.Target) (PushTask, PushConfig, error)
	// DropTarget removes a target's configuration, unless its address has changed.
	DropTarget(ctx context.Context, t delivery.Target, url string) error
}

// PushTarget returns the target for a configuration of a task; log is its session's
// log.
func PushTarget(log, taskID, id string) delivery.Target {
	return delivery.Target{Kind: PushKind, Name: log + "/" + taskID + "/" + id}
}

// ParsePush returns the arguments that Target was called with; ok is false for
// another kind of target.
func ParsePush(t delivery.Target) (log, taskID, id string, ok bool) {
	parts := strings.Split(t.Name, "/")
	if t.Kind != PushKind || len(parts) != 3 {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}
