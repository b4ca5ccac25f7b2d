package automation

import (
	"context"
	"strings"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// Kind is that of the targets that automations are.
const Kind delivery.Kind = "automation"

// Store keeps automations. fault.NotFound for one that the user has not.
type Store interface {
	// CreateAutomation adds one. One of that id that the user has is answered as it
	// is; fault.Conflict where the user has MaxAutomations others.
	CreateAutomation(ctx context.Context, a Automation) (Automation, error)
	Automation(ctx context.Context, userID, id string) (Automation, error)
	// Automations are all that a user has, the oldest first.
	Automations(ctx context.Context, userID string) ([]Automation, error)
	// ChangeAutomation changes one; fault.Precondition where IfMatch does not hold.
	ChangeAutomation(ctx context.Context, userID, id string, c Change) (Automation, error)
	DeleteAutomation(ctx context.Context, userID, id string) error
}

// Counter counts what automations start.
type Counter interface {
	// CountRun counts a run, once however often it is called; false where it is one
	// too many: then the automation is disabled as a Runaway.
	CountRun(ctx context.Context, a Automation, runID string) (bool, error)
}

// Target is an automation as one to be told of what happened in a session. Each
// session has an order of its own, so that one which is busy holds up no other.
func Target(userID, id, sessionID string) delivery.Target {
	return delivery.Target{Kind: Kind, Name: id + "/" + sessionID + "/" + userID, Family: family(userID, id)}
}

// Family is what the groups of an automation's targets begin with, whatever session
// they are of.
func Family(userID, id string) string { return delivery.FamilyGroup(Kind, family(userID, id)) }

func family(userID, id string) string { return id + "/" + userID }

// parseTarget is what Target was made of.
func parseTarget(t delivery.Target) (userID, id string, ok bool) {
	parts := strings.SplitN(t.Name, "/", 3)
	if t.Kind != Kind || len(parts) != 3 {
		return "", "", false
	}
	return parts[2], parts[0], true
}
