package automation

import (
	"context"
	"strings"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// Kind is the kind of the targets that automations are.
const Kind delivery.Kind = "automation"

// Store stores automations. It returns fault.NotFound for one that the user does
// not have.
type Store interface {
	// CreateAutomation adds an automation. If the user has one with the id, it
	// returns that one unchanged. It returns fault.Conflict if the user has
	// MaxAutomations others.
	CreateAutomation(ctx context.Context, a Automation) (Automation, error)
	Automation(ctx context.Context, userID, id string) (Automation, error)
	// Automations returns all of a user's automations, oldest first.
	Automations(ctx context.Context, userID string) ([]Automation, error)
	// ChangeAutomation changes an automation; fault.Precondition if IfMatch does
	// not hold.
	ChangeAutomation(ctx context.Context, userID, id string, c Change) (Automation, error)
	DeleteAutomation(ctx context.Context, userID, id string) error
	// LastRuns returns the last runs of an automation, newest first.
	LastRuns(ctx context.Context, userID, id string) ([]LastRun, error)
}

// Counter counts the runs that automations start.
type Counter interface {
	// CountRun counts a run once, however often it is called, and keeps it as the
	// last run. It returns false if the run exceeds MaxRuns; the automation is then
	// disabled with the reason Runaway. The run's time is set by the store.
	CountRun(ctx context.Context, a Automation, r LastRun) (bool, error)
}

// Target returns the target of an automation for the events of a session. Each
// session has a separate order, so that a busy one does not hold up others.
func Target(userID, id, sessionID string) delivery.Target {
	return delivery.Target{Kind: Kind, Name: id + "/" + sessionID + "/" + userID, Family: family(userID, id)}
}

// Family is the prefix of the groups of an automation's targets, whatever their
// session.
func Family(userID, id string) string { return delivery.FamilyGroup(Kind, family(userID, id)) }

func family(userID, id string) string { return id + "/" + userID }

// parseTarget returns the arguments that Target was called with.
func parseTarget(t delivery.Target) (userID, id string, ok bool) {
	parts := strings.SplitN(t.Name, "/", 3)
	if t.Kind != Kind || len(parts) != 3 {
		return "", "", false
	}
	return parts[2], parts[0], true
}
