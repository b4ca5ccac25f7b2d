package iam

import (
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// policy is what a function may do.
type policy struct {
	function string // its logical id
	grants   []*grant
	denials  []*grant
}

// grant is one action on one resource of a statement, which allows or denies.
type grant struct {
	action, resource   string
	actions, resources *regexp.Regexp
	conditions         []condition
	calls              atomic.Int64
}

// verdict is what a policy says of a call.
type verdict int

const (
	notAllowed verdict = iota
	allowed
	denied // which no statement that allows outweighs
)

// reason is IAM's, for a call that may not pass.
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
					actions: pattern("(?i)", action), resources: pattern("", resource), // IAM takes actions in any case
				})
			}
		}
	}
	return p
}

// pattern matches a text whole: * stands for anything, ? for one character.
func pattern(flags, text string) *regexp.Regexp {
	quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(text))
	return regexp.MustCompile("(?s)" + flags + "^" + quoted + "$")
}

// judge finds what the statements say of a call. It counts one that is allowed
// for the first grant that does, so that another which only repeats it shows as
// unused.
func (p *policy) judge(c call) verdict {
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
		if !condition.holds(c.keys) {
			return false
		}
	}
	return true
}

// uses leave denials out: that they are never needed is the best that they can do.
func (p *policy) uses() []Use {
	var uses []Use
	for _, g := range p.grants {
		uses = append(uses, Use{Function: p.function, Action: g.action, Resource: g.resource, Calls: int(g.calls.Load())})
	}
	return uses
}
