package agent

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// adkSeed makes the events of a new session of ADK's.
type adkSeed struct {
	events []adkEvent
	open   []openCall
	asked  map[string]string // invocations of the calls, by id
	calls  int
}

// seed returns the events of a new session, and the message that the agent is to
// answer: the last event with a content.
func (t *adkTurn) seed() ([]adkEvent, adkContent, error) {
	s := adkSeed{asked: map[string]string{}}
	last := -1
	for i, e := range t.events {
		c, err := contentOf(e)
		if err != nil {
			return nil, adkContent{}, fmt.Errorf("event %d of the history: %w", e.Seq, err)
		}
		if len(c.Parts) > 0 {
			last = i
		}
	}
	if last < 0 {
		return nil, adkContent{}, newError(run.CodeContent, "the input has no content that the agent could answer")
	}
	for i, e := range t.events {
		if i == last && !t.goesOn {
			message := s.message(e)
			if t.note != "" && message.Parts[0].Response == nil {
				message.Parts = append(message.Parts, adkText(t.note))
			}
			return s.events, message, nil
		}
		s.add(e, s.content(e))
	}
	return s.events, adkContent{Role: "user", Parts: []adkPart{adkText(t.note)}}, nil
}

// add adds an event, without what the server refuses. Artifacts were not in the
// agent's history either.
func (s *adkSeed) add(e session.Event, c adkContent) {
	if len(c.Parts) == 0 || adkRecordOf(e).Artifact != nil {
		return
	}
	s.events = append(s.events, adkEvent{
		ID: e.ID, InvocationID: e.InvocationID, Author: e.Author, Timestamp: float64(e.CreatedTime) / 1000,
		Branch: stringOf(e, "branch"), Scope: stringOf(e, "isolation_scope"), Content: c,
	})
}

// content returns the content of an event that is part of the history.
func (s *adkSeed) content(e session.Event) adkContent {
	c, _ := contentOf(e) // seed has checked it
	out := adkContent{Role: "user"}
	model := c.fromModel(e)
	if model {
		out.Role = "model"
	}
	for _, raw := range c.Parts {
		p := memberOf(raw)
		switch {
		case p.Call != nil && isADKs(p.Call.Name):
		case p.Response != nil && isADKs(p.Response.Name) && s.asked[p.Response.ID] == "":
		case p.Call != nil && !model, p.Response != nil && !s.respond(&p):
			out.Parts = append(out.Parts, wordsOf(p, raw))
		default:
			if p.Call != nil {
				s.ask(e, &p)
			}
			out.Parts = append(out.Parts, adkPartOf(p, raw))
		}
	}
	return out
}

// isADKs reports whether a function is one of ADK's own, by which it asks for
// something. Its calls and responses are refused in a new session.
func isADKs(name string) bool {
	return slices.Contains([]string{"adk_request_credential", "adk_request_confirmation", "adk_request_input"}, name)
}

func wordsOf(p contentMember, raw json.RawMessage) adkPart {
	if p.Response != nil {
		return adkText(fmt.Sprintf("[response of %s: %s]", p.Response.Name, p.Response.Response))
	}
	return adkText(inWords(p, raw))
}

// ask notes a call, which gets an id if it has none.
func (s *adkSeed) ask(e session.Event, p *contentMember) {
	s.calls++
	generated := p.Call.ID == ""
	if generated {
		p.Call.ID = fmt.Sprintf("call_%d", s.calls)
	}
	s.asked[p.Call.ID] = e.InvocationID
	s.open = append(s.open, openCall{p.Call.ID, p.Call.Name, generated})
}

// respond notes a response, which gets the id of its call; false if there is no
// such call.
func (s *adkSeed) respond(p *contentMember) bool {
	at := findCall(s.open, p.Response.ID, p.Response.Name)
	if at < 0 {
		return s.asked[p.Response.ID] != ""
	}
	p.Response.ID = s.open[at].id
	s.open = slices.Delete(s.open, at, at+1)
	return true
}

// message returns what the agent is to answer. ADK takes responses or other content,
// not both, so responses beside other content are added to the history.
func (s *adkSeed) message(e session.Event) adkContent {
	c, _ := contentOf(e) // seed has checked it
	responses, others := adkContent{Role: "user"}, adkContent{Role: "user"}
	invocation := ""
	for _, raw := range c.Parts {
		p := memberOf(raw)
		switch {
		case p.Response == nil && p.Call == nil:
			others.Parts = append(others.Parts, adkPartOf(p, raw))
		case p.Response == nil || isADKs(p.Response.Name) || !s.respond(&p) || invocation != "" && s.asked[p.Response.ID] != invocation:
			others.Parts = append(others.Parts, wordsOf(p, raw))
		default:
			invocation = s.asked[p.Response.ID]
			responses.Parts = append(responses.Parts, adkPartOf(p, raw))
		}
	}
	if len(others.Parts) == 0 {
		return responses
	}
	s.add(e, responses)
	return others
}
