// Package iam enforces the functions' policies from the template, as IAM does in
// the cloud: a call that a policy denies, or none allows, is refused with the
// service's error. It counts the uses of each permission, so that unused ones
// become visible.
//
// The access key that signs a request identifies the caller: a function's access
// key is its logical id. Any other caller is the developer, who may do everything;
// signatures are not verified.
package iam

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// maxRequestBytes is above the limits of all services: DynamoDB's largest batches
// have 16 MB before encoding.
const maxRequestBytes = 32 << 20

// Options configure a Guard.
type Options struct {
	Functions       []samtemplate.Function
	Tables          []samtemplate.Table
	WebSocketAPIs   []samtemplate.WebSocketAPI
	Region, Account string
	Log             *slog.Logger
}

// Guard checks the calls of functions to services.
type Guard struct {
	opts     Options
	policies map[string]*policy // by access key

	mu     sync.Mutex
	denied map[Use]int // Use without its count
}

// Use is a permission and the number of its uses, or a call that no policy allows.
type Use struct {
	Function string `json:"function"` // logical id
	Action   string `json:"action"`
	Resource string `json:"resource"`
	Calls    int    `json:"calls"`
	Denied   bool   `json:"denied,omitempty"`
}

// New returns a guard that enforces the functions' permissions.
func New(opts Options) *Guard {
	g := &Guard{opts: opts, policies: map[string]*policy{}, denied: map[Use]int{}}
	for _, f := range opts.Functions {
		g.policies[f.LogicalID] = newPolicy(f)
	}
	return g
}

// Protect passes on to next the requests that their callers may make. A request
// signed for a service not in services is passed on unchecked.
func (g *Guard) Protect(next http.Handler, services ...string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		caller, ok := callerOf(r)
		p := g.policies[caller.key]
		if !ok || p == nil {
			next.ServeHTTP(rw, r)
			return
		}
		if !slices.Contains(services, caller.service) {
			g.deny(rw, r, p, caller.service, call{action: caller.service + ":*", resource: "*"}, notAllowed)
			return
		}
		calls, err := g.read(caller.service, r)
		if err != nil {
			return // the caller disconnected or sent an invalid request
		}
		for _, c := range calls {
			if v := p.decide(c); v != allowed {
				g.deny(rw, r, p, caller.service, c, v)
				return
			}
		}
		next.ServeHTTP(rw, r)
	})
}

// read reads the request's body and puts it back.
func (g *Guard) read(service string, r *http.Request) ([]call, error) {
	var body []byte
	if r.Header.Get("X-Amz-Target") != "" {
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxRequestBytes)); err != nil {
			return nil, fmt.Errorf("read request to %s: %w", service, err)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return g.calls(service, r, body), nil
}

// deny answers with the service's error, and records the denial.
func (g *Guard) deny(rw http.ResponseWriter, r *http.Request, p *policy, service string, c call, v verdict) {
	g.mu.Lock()
	g.denied[Use{Function: p.function, Action: c.action, Resource: c.resource, Denied: true}]++
	g.mu.Unlock()
	g.opts.Log.WarnContext(r.Context(), "call denied: the function's policies in template.yaml do not allow it",
		"function", p.function, "action", c.action, "resource", c.resource, "keys", c.keys)
	answerDenied(rw, service, fmt.Sprintf(
		"User: arn:aws:sts::%s:assumed-role/%sRole/%s is not authorized to perform: %s on resource: %s %s",
		g.opts.Account, p.function, p.function, c.action, c.resource, v.reason(c)))
}

// Uses returns all permissions with the number of their uses so far, followed by
// the denied calls, by function.
func (g *Guard) Uses() []Use {
	var uses []Use
	for _, p := range g.policies {
		uses = append(uses, p.uses()...)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for use, n := range g.denied {
		use.Calls = n
		uses = append(uses, use)
	}
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(strings.Compare(a.Function, b.Function), strings.Compare(a.Action, b.Action), strings.Compare(a.Resource, b.Resource))
	})
	return uses
}
