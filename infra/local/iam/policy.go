package iam

import (
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// policy is the set of a function's permissions.
type policy struct {
	function string // logical id
	grants   []*grant
	denials  []*grant
}

// grant is one action on one resource of a statement, which allows or denies it.
type grant struct {
	action, resource   string
	actions, resources *regexp.Regexp
	conditions         []condition
	calls              atomic.Int64
}

// verdict is the decision of a policy about a call.
type verdict int

const (
	notAllowed verdict = iota
	allowed
	denied // overrides every statement that allows
)

// reason is IAM's explanation of a denied call.
func (v verdict) reason(c call) string {
	if v == denied {
		return "with an explicit deny in an identity-based policy"
	}
	return "because no identity-based policy allows the " + c.action + " action"
}

func newPolicy(f samtemplate.Function) *policy {
	p := &policy{function: f.LogicalID}
	for _, permission := range f.Permissions {
		statements := &p.grants
		if permission.Deny {
			statements = &p.denials
		}
		conditions := newConditions(permission.Conditions)
		for _, action := range permission.Actions {
			for _, resource := range permission.Resources {
				*statements = append(*statements, &grant{
					action: action, resource: resource, conditions: conditions,
					actions: pattern("(?i)", action), resources: pattern("", resource), // IAM ignores the case of actions
				})
			}
		}
	}
	return p
}

// pattern matches a whole string: * stands for any characters, ? for one.
func pattern(flags, text string) *regexp.Regexp {
	quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(text))
	return regexp.MustCompile("(?s)" + flags + "^" + quoted + "$")
}

// decide decides about a call. It counts an allowed call for the first matching
// grant only, so that a redundant grant shows up as unused.
func (p *policy) decide(c call) verdict {
	for _, d := range p.denials {
		if d.covers(c) {
			return denied
		}
	}
	for _, g := range p.grants {
		if g.covers(c) {
			g.calls.Add(1)
			return allowed
		}
	}
	return notAllowed
}

func (g *grant) covers(c call) bool {
	if !g.actions.MatchString(c.action) || !g.resources.MatchString(c.resource) {
		return false
	}
	for _, condition := range g.conditions {
		if !condition.isMet(c.keys) {
			return false
		}
	}
	return true
}

// uses omits denials: ideally they are never used.
func (p *policy) uses() []Use {
	var uses []Use
	for _, g := range p.grants {
		uses = append(uses, Use{Function: p.function, Action: g.action, Resource: g.resource, Calls: int(g.calls.Load())})
	}
	return uses
}
