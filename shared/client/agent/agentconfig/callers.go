package agentconfig

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Callers says whose tokens may call an agent: those with a word in their scope, and
// those with one of the values of a claim. The zero value lets everybody call.
type Callers struct {
	Scope string
	Claim string
	AnyOf []string
}

// Restricts reports whether not everybody may call.
func (c Callers) Restricts() bool { return c.Scope != "" || c.Claim != "" }

// Met returns what the rule asks for and a token has, such as `scope=finance` or
// `groups=audit`: by its scope, words separated by blanks, or by its claims, which has
// tells. With any of it the bearer may call, also later, when there is no token.
func (c Callers) Met(scope string, has func(claim, value string) bool) []string {
	var met []string
	if c.Scope != "" && slices.Contains(strings.Fields(scope), c.Scope) {
		met = append(met, "scope="+c.Scope)
	}
	for _, value := range c.AnyOf {
		if has(c.Claim, value) {
			met = append(met, c.Claim+"="+value)
		}
	}
	return met
}

// Include reports whether the bearer of a token that met this, now or earlier, may call.
func (c Callers) Include(met []string) bool {
	if !c.Restricts() {
		return true
	}
	return c.Scope != "" && slices.Contains(met, "scope="+c.Scope) ||
		slices.ContainsFunc(c.AnyOf, func(value string) bool { return slices.Contains(met, c.Claim+"="+value) })
}

// callers reads who may call the agent.
func (r *reader) callers() Callers {
	var members map[string]json.RawMessage
	r.take("callers", &members, "an object with scope, or with claim and any_of")
	if members == nil {
		return Callers{}
	}
	var c Callers
	for _, name := range slices.Sorted(maps.Keys(members)) {
		into := map[string]any{"scope": &c.Scope, "claim": &c.Claim, "any_of": &c.AnyOf}[name]
		if into == nil {
			r.fail("callers/"+jsonx.EscapePointer(name), "is not known: there are scope, claim and any_of")
		} else if json.Unmarshal(members[name], into) != nil {
			r.fail("callers/"+name, "must be a string, any_of an array of strings")
		}
	}
	if !c.Restricts() || (c.Claim == "") != (len(c.AnyOf) == 0) || slices.Contains(c.AnyOf, "") || len(strings.Fields(c.Scope)) > 1 {
		r.fail("callers", "must have scope, one word, or claim and any_of, or all of them")
	}
	return c
}
