package sessions

import "github.com/rethread/rethread/shared/domain/notification"

// attrAttribution marks the items whose writes are sent to receivers of events: the
// attribute of attribution.User. template.yaml filters the table's stream by it.
const attrAttribution = "tu"

// attribution is the owner of such an item and what caused it, so that the change
// alone contains everything that an event needs. Items that were imported, were
// made by a fork or a rewind, or have no event have none.
type attribution struct {
	User    string `dynamodbav:"tu,omitempty"`
	Session string `dynamodbav:"tn,omitempty"`
	Agent   string `dynamodbav:"ta,omitempty"`
	// Chain is the automations that led to it, the first one first.
	Chain []string `dynamodbav:"tc,omitempty"`
}

// attribution returns the attribution for writes in the session. Writes during an
// automation's run are attributed to the automation.
func (h *header) attribution() attribution {
	return attribution{User: h.User, Session: h.id(), Agent: h.Agent, Chain: h.CausedBy}
}

// by returns the attribution with another chain of automations.
func (a attribution) by(chain []string) attribution {
	a.Chain = chain
	return a
}

// attributed returns the domain's form of the attribution.
func (a attribution) attributed() notification.Attribution {
	return notification.Attribution{UserID: a.User, SessionID: a.Session, Agent: a.Agent, Chain: a.Chain}
}
