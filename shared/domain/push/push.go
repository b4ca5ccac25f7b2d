// Package push is the domain of A2A's push notifications: where the client of a
// task wants to be told how it goes on. What is sent is made elsewhere.
package push

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// Kind is that of the targets that configurations are.
const Kind delivery.Kind = "a2a"

// Limits of configurations. Lengths are in bytes.
const (
	MaxConfigs     = 10 // a task
	MaxURL         = 2048
	MaxToken       = 1024
	MaxScheme      = 64
	MaxCredentials = 4096
)

// Config is where one client of a task wants to be told, and how.
type Config struct {
	ID  string
	URL string
	// Token is sent along as it is, for the receiver to know what it asked for.
	Token string
	// Scheme and Credentials go into the header Authorization.
	Scheme, Credentials string
	// Version is the version of the protocol that the configuration was made in,
	// "1.0" or "0.3": notifications are in its form.
	Version string
	// Since is when it began to count, in epoch milliseconds: what happened before
	// is not told. 0 tells all.
	Since int64
}

// Validate says which field breaks a rule. Where the address leads is another
// matter.
func (c Config) Validate() error {
	if err := fault.CheckNewID("id", c.ID); err != nil {
		return err
	}
	for _, f := range []struct {
		name, value string
		most        int
	}{
		{"url", c.URL, MaxURL},
		{"token", c.Token, MaxToken},
		{"authentication.scheme", c.Scheme, MaxScheme},
		{"authentication.credentials", c.Credentials, MaxCredentials},
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

// printable reports whether text may stand in a header.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == utf8.RuneError })
}

// Task is the task that is told of.
type Task struct {
	UserID    string
	SessionID string
	ID        string
}

// Store keeps configurations. They go with their session; whoever names a
// session that is not theirs gets the faults of session.Store.
type Store interface {
	// PutConfig adds a configuration to a task or replaces the one with its id;
	// fault.Invalid where the task has MaxConfigs others.
	PutConfig(ctx context.Context, t Task, c Config) error
	// Configs are those of a task, in the order of their ids.
	Configs(ctx context.Context, t Task) ([]Config, error)
	// DeleteConfig removes one, where it is there.
	DeleteConfig(ctx context.Context, t Task, id string) error
	// ContinueTask makes a run of another id than the task's known as the task's.
	// It comes before the run begins.
	ContinueTask(ctx context.Context, t Task, runID string) error
}

// Targets reads configurations as they are needed to tell of tasks.
type Targets interface {
	// TargetConfig reads the configuration that a target is;
	// delivery.ErrGone where it is there no more.
	TargetConfig(ctx context.Context, t delivery.Target) (Task, Config, error)
	// DropTarget removes it, unless its address is another one by now.
	DropTarget(ctx context.Context, t delivery.Target, url string) error
}

// Target is a configuration of a task whose session has this log.
func Target(log, taskID, id string) delivery.Target {
	return delivery.Target{Kind: Kind, Name: log + "/" + taskID + "/" + id}
}

// ParseTarget is what Target was made of; false for another kind's.
func ParseTarget(t delivery.Target) (log, taskID, id string, ok bool) {
	parts := strings.Split(t.Name, "/")
	if t.Kind != Kind || len(parts) != 3 {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}
