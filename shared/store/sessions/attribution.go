package sessions

import "github.com/rethread/rethread/shared/domain/notification"

// attrAttribution marks the items whose writing receivers of events are notified
// of: the attribute of attribution.User. template.yaml filters the table's stream
// by it.
const attrAttribution = "tu"

// attribution is what such an item knows of whose it is and what caused it, so that
// the change alone has all that an event needs. Items that came by an import, that a
// fork or a rewind made, or that nobody is notified of have none.
type attribution struct {
	User    string `dynamodbav:"tu,omitempty"`
	Session string `dynamodbav:"tn,omitempty"`
	Agent   string `dynamodbav:"ta,omitempty"`
	// Chain is the automations that led to it, the first one first.
	Chain []string `dynamodbav:"tc,omitempty"`
}

// attribution is that of something in the session. What is saved while an
// automation's run is active is attributed to the automation.
func (h *header) attribution() attribution {
	return attribution{User: h.User, Session: h.id(), Agent: h.Agent, Chain: h.CausedBy}
}

// by is the same with other automations that led to it.
func (a attribution) by(chain []string) attribution {
	a.Chain = chain
	return a
}

// attributed is the attribution as the domain has it.
func (a attribution) attributed() notification.Attribution {
	return notification.Attribution{UserID: a.User, SessionID: a.Session, Agent: a.Agent, Chain: a.Chain}
}
