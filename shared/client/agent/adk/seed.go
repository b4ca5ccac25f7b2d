package adk

import (
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// seed makes the events of a new session of ADK's.
type seed struct {
	events []event
	open   []transcript.OpenCall
	asked  map[string]string // invocations of the calls, by id
	calls  int
}

// seed returns the events of a new session, and the message that the agent is to
// answer: the last event with a content.
func (t *turn) seed() ([]event, message, error) {
	s := seed{asked: map[string]string{}}
	last := -1
	for i, e := range t.events {
		if len(transcript.ContentOf(e).Parts) > 0 {
			last = i
		}
	}
	if last < 0 {
		return nil, message{}, endpoint.NewError(run.CodeContent, "the input has no content that the agent could answer")
	}
	for i, e := range t.events {
		if i == last && !t.goesOn {
			asked := s.message(e)
			if t.note != "" && asked.Parts[0].Response == nil {
				asked.Parts = append(asked.Parts, textPart(t.note))
			}
			return s.events, asked, nil
		}
		s.add(e, s.content(e))
	}
	return s.events, message{Role: "user", Parts: []part{textPart(t.note)}}, nil
}

// add adds an event, without what the server refuses. Artifacts were not in the
// agent's history either.
func (s *seed) add(e session.Event, c message) {
	if len(c.Parts) == 0 || recordOf(e).Artifact != nil {
		return
	}
	s.events = append(s.events, event{
		ID: e.ID, InvocationID: e.InvocationID, Author: e.Author, Timestamp: float64(e.CreatedTime) / 1000,
		Branch: stringOf(e, "branch"), Scope: stringOf(e, "isolation_scope"), Content: c,
	})
}

// content returns the content of an event that is part of the history.
func (s *seed) content(e session.Event) message {
	c := transcript.ContentOf(e)
	out := message{Role: "user"}
	model := c.FromModel(e)
	if model {
		out.Role = "model"
	}
	for _, p := range c.Parts {
		switch {
		case p.Call != nil && isADKs(p.Call.Name):
		case p.Response != nil && isADKs(p.Response.Name) && s.asked[p.Response.ID] == "":
		case p.Call != nil && !model, p.Response != nil && !s.respond(&p):
			out.Parts = append(out.Parts, wordsOf(p))
		default:
			if p.Call != nil {
				s.ask(e, &p)
			}
			out.Parts = append(out.Parts, partOf(p))
		}
	}
	return out
}

// isADKs reports whether a function is one of ADK's own, by which it asks for
// something. Its calls and responses are refused in a new session.
func isADKs(name string) bool {
	return slices.Contains([]string{"adk_request_credential", "adk_request_confirmation", "adk_request_input"}, name)
}

func wordsOf(p transcript.Part) part {
	if p.Response != nil {
		return textPart(fmt.Sprintf("[response of %s: %s]", p.Response.Name, p.Response.Response))
	}
	return textPart(p.InWords())
}

// ask notes a call, which gets an id if it has none.
func (s *seed) ask(e session.Event, p *transcript.Part) {
	s.calls++
	generated := p.Call.ID == ""
	if generated {
		p.Call.ID = fmt.Sprintf("call_%d", s.calls)
	}
	s.asked[p.Call.ID] = e.InvocationID
	s.open = append(s.open, transcript.OpenCall{ID: p.Call.ID, Name: p.Call.Name, Generated: generated})
}

// respond notes a response, which gets the id of its call; false if there is no
// such call.
func (s *seed) respond(p *transcript.Part) bool {
	at := transcript.FindCall(s.open, p.Response.ID, p.Response.Name)
	if at < 0 {
		return s.asked[p.Response.ID] != ""
	}
	p.Response.ID = s.open[at].ID
	s.open = slices.Delete(s.open, at, at+1)
	return true
}

// message returns what the agent is to answer. ADK takes responses or other content,
// not both, so responses beside other content are added to the history.
func (s *seed) message(e session.Event) message {
	c := transcript.ContentOf(e)
	responses, others := message{Role: "user"}, message{Role: "user"}
	invocation := ""
	for _, p := range c.Parts {
		switch {
		case p.Response == nil && p.Call == nil:
			others.Parts = append(others.Parts, partOf(p))
		case p.Response == nil || isADKs(p.Response.Name) || !s.respond(&p) || invocation != "" && s.asked[p.Response.ID] != invocation:
			others.Parts = append(others.Parts, wordsOf(p))
		default:
			invocation = s.asked[p.Response.ID]
			responses.Parts = append(responses.Parts, partOf(p))
		}
	}
	if len(others.Parts) == 0 {
		return responses
	}
	s.add(e, responses)
	return others
}
