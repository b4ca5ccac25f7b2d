package eventlog

import (
	"github.com/rethread/rethread/shared/domain/notification"
)

// AttrAttribution marks the items whose writes are sent to receivers of events: the
// attribute of attribution.User. template.yaml filters the table's stream by it.
const AttrAttribution = "tu"

// Attribution is the owner of such an item and what caused it, so that the change
// alone contains everything that an event needs. Items that were imported, were
// made by a fork or a rewind, or have no event have none.
type Attribution struct {
	User    string `dynamodbav:"tu,omitempty"`
	Session string `dynamodbav:"tn,omitempty"`
	Agent   string `dynamodbav:"ta,omitempty"`
	// Chain is the automations that led to it, the first one first.
	Chain []string `dynamodbav:"tc,omitempty"`
}

// By returns the attribution with another chain of automations.
func (a Attribution) By(chain []string) Attribution {
	a.Chain = chain
	return a
}

// Attributed returns the domain's form of the attribution.
func (a Attribution) Attributed() notification.Attribution {
	return notification.Attribution{UserID: a.User, SessionID: a.Session, Agent: a.Agent, Chain: a.Chain}
}
