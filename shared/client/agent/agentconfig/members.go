package agentconfig

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// reader reads the members of one agent's configuration, each once, and keeps the
// first error.
type reader struct {
	jsonx.Object
	lookup func(string) (string, bool)
	err    error
}

// invalid describes what is wrong with a member; a wrong type is reported like any
// other violation.
func invalid(_ fault.Cause, at, format string, args ...any) *fault.Error {
	return fault.Field(fault.Invalid, at, format, args...)
}

func (r *reader) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = fault.Field(fault.Invalid, r.At+"/"+name, format, args...)
	}
}

// take reads an optional member.
func (r *reader) take(name string, into any, what string) {
	err := r.Take(name, into, what)
	delete(r.Members, name)
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) text(name string) string {
	var s string
	r.take(name, &s, "a string")
	return s
}

// agent reads the whole configuration of one agent.
func (r *reader) agent() Agent {
	a := Agent{
		Kind:      Kind(r.text("type")),
		Endpoint:  r.endpoint(),
		Retention: r.retention(), History: r.history(), Continuations: r.continuations(), OnFailed: r.onFailed(), Callers: r.callers(),
	}
	switch a.Kind {
	case KindHTTP:
		a.Reads = r.reads()
	case KindChatCompletions, KindResponses:
		a.Chat = r.chat(a.Kind)
	case KindAGUI:
		a.Frontend = r.frontend()
	case KindA2A:
		a.Card = r.card(a.Endpoint.URL)
	case KindADK:
		a.App = r.app()
	default:
		r.fail("type", `must be "http", "chat_completions", "responses", "ag_ui", "a2a" or "adk"`)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Members)) {
		r.fail(jsonx.EscapePointer(name), "is not known for type %s", a.Kind)
	}
	return a
}

func (r *reader) endpoint() Endpoint {
	e := Endpoint{URL: r.address(), Timeouts: r.timeouts()}
	e.Header, e.Kept = r.headers()
	return e
}

func (r *reader) address() string {
	text := r.text("url")
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		r.fail("url", "must be an http or https URL")
	case u.User != nil:
		r.fail("url", "must not hold a password: use api_key_parameter or header_parameters")
	case u.Fragment != "":
		r.fail("url", "must not have a fragment")
	}
	return text
}

func (r *reader) retention() int64 {
	text := r.text("retention")
	seconds, err := session.ParseRetention(text)
	if err != nil {
		r.fail("retention", `must be a duration of one minute to ten years, such as "720h" or "30d"`)
	}
	return seconds
}

func (r *reader) timeouts() Timeouts {
	var texts map[string]string
	r.take("timeouts", &texts, `an object of durations such as "5s"`)
	var t Timeouts
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		at := "timeouts/" + jsonx.EscapePointer(name)
		d, err := time.ParseDuration(texts[name])
		if err != nil || d <= 0 || d > MaxTimeout {
			r.fail(at, `must be a duration such as "5s", at most %s`, MaxTimeout)
		}
		switch name {
		case "connect":
			t.Connect = d
		case "first_byte":
			t.FirstByte = d
		case "idle":
			t.Idle = d
		default:
			r.fail(at, "is not known: there are connect, first_byte and idle")
		}
	}
	return t
}
