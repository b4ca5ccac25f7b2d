package agent

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// DefaultName is the agent of sessions without an agent's name.
const DefaultName = "default"

// MaxTimeout is the maximum timeout that may be configured: the longest life of a
// worker.
const MaxTimeout = 15 * time.Minute

// Directory holds the configured agents by name.
type Directory map[string]run.Agent

// Agent returns the agent with the name that a session has. Without a name it is the
// agent called "default" or, if there is only one, that one.
func (d Directory) Agent(name string) (run.Agent, bool) {
	if name == "" {
		name = DefaultName
		if _, ok := d[name]; !ok && len(d) == 1 {
			name = slices.Collect(maps.Keys(d))[0]
		}
	}
	a, ok := d[name]
	return a, ok
}

// Retention returns how many seconds the sessions of an agent are retained after
// their last activity, by its configuration; 0 if that has no retention.
func (d Directory) Retention(name string) int64 {
	a, _ := d.Agent(name)
	if r, ok := a.(interface{ Retention() int64 }); ok {
		return r.Retention()
	}
	return 0
}

// Close closes the agents' idle connections.
func (d Directory) Close() {
	for _, a := range d {
		if c, ok := a.(interface{ Close() }); ok {
			c.Close()
		}
	}
}

// ParseConfig reads the agents' configuration: a JSON object by name
// (docs/agent-protocol.md describes its members). lookup, which is os.LookupEnv,
// returns the environment variables with the secrets that the configuration names. An
// empty configuration has no agents. Errors are faults that name the member; they
// never contain a secret.
func ParseConfig(config string, lookup func(string) (string, bool)) (Directory, error) {
	d := Directory{}
	if strings.TrimSpace(config) == "" {
		return d, nil
	}
	var agents map[string]json.RawMessage
	if json.Unmarshal([]byte(config), &agents) != nil || agents == nil {
		return nil, fault.New(fault.Malformed, "the configuration of agents must be a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		at := "/" + jsonx.EscapePointer(name)
		if err := fault.CheckAgent(at, name); err != nil {
			return nil, err
		}
		members, err := jsonx.ParseObjectWith(agents[name], at, invalid)
		if err != nil {
			return nil, err
		}
		r := reader{Object: members, lookup: lookup}
		a := r.agent()
		if r.err != nil {
			return nil, r.err
		}
		d[name] = a
	}
	return d, d.checkAddresses()
}

// checkAddresses refuses two agents with the same address over A2A, in which a "~"
// replaces the "/" of a name.
func (d Directory) checkAddresses() error {
	for name := range d {
		other := strings.Replace(name, "/", "~", 1)
		if _, ok := d[other]; ok && other != name {
			return fault.Field(fault.Invalid, "/"+jsonx.EscapePointer(name), "has the same address as %q", other)
		}
	}
	return nil
}

// reader reads the members of one agent's configuration, each once, and keeps the
// first error.
type reader struct {
	jsonx.Object
	lookup func(string) (string, bool)
	err    error
}

// invalid describes what is wrong with a member; a wrong type is reported like any
// other violation.
func invalid(_ fault.Kind, at, format string, args ...any) *fault.Error {
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
func (r *reader) agent() run.Agent {
	kind := r.text("type")
	e := Endpoint{URL: r.address(), Header: r.header(), Timeouts: r.timeouts(), Retention: r.retention(), History: r.history(), Continuations: r.continuations()}
	var a run.Agent
	switch kind {
	case "http":
		a = NewHTTP(e)
	case "chat_completions":
		a = NewChatCompletions(e, r.chat(kind))
	case "responses":
		a = NewResponses(e, r.chat(kind))
	case "ag_ui":
		a = NewAGUI(e, r.frontend())
	case "a2a":
		a = NewA2A(e, r.card(e.URL))
	case "adk":
		a = NewADK(e, r.app())
	default:
		r.fail("type", `must be "http", "chat_completions", "responses", "ag_ui", "a2a" or "adk"`)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Members)) {
		r.fail(jsonx.EscapePointer(name), "is not known for type %s", kind)
	}
	return a
}

func (r *reader) address() string {
	text := r.text("url")
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		r.fail("url", "must be an http or https URL")
	case u.User != nil:
		r.fail("url", "must not hold a password: use api_key_env or header_env")
	case u.Fragment != "":
		r.fail("url", "must not have a fragment")
	}
	return text
}

// header reads the headers to send: literal ones, those from the environment, and the
// key as a bearer token.
func (r *reader) header() http.Header {
	header := http.Header{}
	var plain, secret map[string]string
	r.take("headers", &plain, "an object of strings")
	r.take("header_env", &secret, "an object of strings")
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		r.set(header, "headers", name, plain[name])
	}
	for _, name := range slices.Sorted(maps.Keys(secret)) {
		r.set(header, "header_env", name, r.secret("header_env/"+jsonx.EscapePointer(name), secret[name]))
	}
	if _, ok := r.Members["api_key_env"]; ok {
		key := r.secret("api_key_env", r.text("api_key_env"))
		r.set(header, "api_key_env", "Authorization", "Bearer "+key)
	}
	return header
}

func (r *reader) secret(at, variable string) string {
	value, ok := r.lookup(variable)
	if !ok || strings.TrimSpace(value) == "" {
		r.fail(at, "names the environment variable %q, which is not set", variable)
	}
	return strings.TrimSpace(value)
}

// set sets a header if it may be sent (RFC 9110: a token, and no control characters).
func (r *reader) set(header http.Header, member, name, value string) {
	at := member
	if member != "api_key_env" {
		at += "/" + jsonx.EscapePointer(name)
	}
	key := http.CanonicalHeaderKey(name)
	switch key {
	case "Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Transfer-Encoding":
		r.fail(at, "is a header that cannot be chosen")
	}
	if ok, err := regexp.MatchString("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", name); err != nil || !ok {
		r.fail(at, "is not the name of a header")
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		r.fail(at, "has a value with control characters")
	}
	if _, twice := header[key]; twice {
		r.fail(at, "sets the header %s a second time", key)
	}
	header.Set(name, value)
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
