// Package agentconfig reads the configuration of agents: their names, kinds, endpoints
// and limits. It calls no agent, so functions that only need names import nothing else.
package agentconfig

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
)

// DefaultName is the agent of sessions without an agent's name.
const DefaultName = "default"

// MaxTimeout is the maximum timeout that may be configured: the longest life of a
// worker.
const MaxTimeout = 15 * time.Minute

// Agent is the configuration of one agent.
type Agent struct {
	Kind     Kind
	Endpoint Endpoint
	// Retention is how many seconds the agent's sessions are retained after their
	// last activity if they have no retention of their own; 0 for the deployment's.
	Retention int64
	// History bounds the history in each request.
	History run.HistoryLimit
	// Continuations is how often a run may be continued after its worker was lost.
	Continuations int
	// OnFailed is what becomes of runs that fail or are cancelled if their starts do not
	// say it; "" for run.Discard.
	OnFailed run.OnFailed

	Callers Callers

	Chat     Chat     // of KindChatCompletions and KindResponses
	Frontend Frontend // of KindAGUI
	Card     string   // of KindA2A: the card's address; "" for the well-known one
	App      string   // of KindADK
	Reads    []string // of KindHTTP: the parameters of front ends that it obeys
}

// Agents holds the configured agents by name.
type Agents map[string]Agent

// Find returns the agent with the name that a session has. Without a name it is
// the agent called "default" or, if there is only one, that one.
func Find[A any](agents map[string]A, name string) (A, bool) {
	if name == "" {
		name = DefaultName
		if _, ok := agents[name]; !ok && len(agents) == 1 {
			name = slices.Collect(maps.Keys(agents))[0]
		}
	}
	a, ok := agents[name]
	return a, ok
}

// With returns the agents with the place where their secrets are kept.
func (d Agents) With(secrets Secrets) Agents {
	out := make(Agents, len(d))
	for name, a := range d {
		a.Endpoint.Secrets = secrets
		out[name] = a
	}
	return out
}

// Has reports whether an agent is configured; "" means the agent of sessions that name
// none.
func (d Agents) Has(name string) bool {
	_, ok := Find(d, name)
	return ok
}

// Retention returns how many seconds the sessions of an agent are retained after
// their last activity, by its configuration; 0 if that has no retention.
func (d Agents) Retention(name string) int64 {
	a, _ := Find(d, name)
	return a.Retention
}

// OnFailed returns what becomes of an agent's runs that fail or are cancelled if their
// starts do not say it.
func (d Agents) OnFailed(name string) run.OnFailed {
	a, _ := Find(d, name)
	return cmp.Or(a.OnFailed, run.Discard)
}

// Parse reads the agents' configuration: a JSON object by name
// (docs/agent-protocol.md describes its members). lookup, which is os.LookupEnv,
// returns the environment variables with the secrets that the configuration names. An
// empty configuration has no agents. Errors are faults that name the member; they
// never contain a secret.
func Parse(config string, lookup func(string) (string, bool)) (Agents, error) {
	d := Agents{}
	if strings.TrimSpace(config) == "" {
		return d, nil
	}
	var agents map[string]json.RawMessage
	if json.Unmarshal([]byte(config), &agents) != nil || agents == nil {
		return nil, fault.New(fault.Malformed, "the configuration of agents must be a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		at := "/" + jsonx.EscapePointer(name)
		if err := ids.CheckAgent(at, name); err != nil {
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
func (d Agents) checkAddresses() error {
	for name := range d {
		other := strings.Replace(name, "/", "~", 1)
		if _, ok := d[other]; ok && other != name {
			return fault.Field(fault.Invalid, "/"+jsonx.EscapePointer(name), "has the same address as %q", other)
		}
	}
	return nil
}
