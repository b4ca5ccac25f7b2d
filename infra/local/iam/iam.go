// Package iam holds functions to the policies that the template gives them, as
// IAM does in the cloud: what one of them denies, or none allows, is refused in
// the service's words. It counts what each permission was used for, so that what
// nobody needs shows too.
//
// Who calls is told by the access key that signs a request: a function's is its
// logical id. Whoever else calls is the developer, who may do everything;
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

// maxRequestBytes is more than any of the services takes: DynamoDB's largest
// batches have 16 MB before they are encoded.
const maxRequestBytes = 32 << 20

// Options say whose calls are held to what.
type Options struct {
	Functions       []samtemplate.Function
	Tables          []samtemplate.Table
	WebSocketAPIs   []samtemplate.WebSocketAPI
	Region, Account string
	Log             *slog.Logger
}

// Guard stands before the services that functions call.
type Guard struct {
	opts     Options
	policies map[string]*policy // by access key

	mu     sync.Mutex
	denied map[Use]int // Use without its count
}

// Use is a permission and how often it was used, or a call that none allows.
type Use struct {
	Function string `json:"function"` // its logical id
	Action   string `json:"action"`
	Resource string `json:"resource"`
	Calls    int    `json:"calls"`
	Denied   bool   `json:"denied,omitempty"`
}

// New returns a guard of the functions' permissions.
func New(opts Options) *Guard {
	g := &Guard{opts: opts, policies: map[string]*policy{}, denied: map[Use]int{}}
	for _, f := range opts.Functions {
		g.policies[f.LogicalID] = newPolicy(f)
	}
	return g
}

// Protect passes on to next what its caller may do. A request that is signed for
// none of the services, which next may have of its own, is passed on too.
func (g *Guard) Protect(next http.Handler, services ...string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		caller, ok := signer(r)
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
			return // the caller is gone, or sends what no SDK does
		}
		for _, c := range calls {
			if v := p.judge(c); v != allowed {
				g.deny(rw, r, p, caller.service, c, v)
				return
			}
		}
		next.ServeHTTP(rw, r)
	})
}

// read takes the body out of the request and puts it back.
func (g *Guard) read(service string, r *http.Request) ([]call, error) {
	var body []byte
	if r.Header.Get("X-Amz-Target") != "" {
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxRequestBytes)); err != nil {
			return nil, fmt.Errorf("read a request to %s: %w", service, err)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return g.calls(service, r, body), nil
}

// deny answers as the service does, and remembers.
func (g *Guard) deny(rw http.ResponseWriter, r *http.Request, p *policy, service string, c call, v verdict) {
	g.mu.Lock()
	g.denied[Use{Function: p.function, Action: c.action, Resource: c.resource, Denied: true}]++
	g.mu.Unlock()
	g.opts.Log.WarnContext(r.Context(), "a function's policies do not allow what it asks for",
		"function", p.function, "action", c.action, "resource", c.resource, "keys", c.keys)
	answerDenied(rw, service, fmt.Sprintf(
		"User: arn:aws:sts::%s:assumed-role/%sRole/%s is not authorized to perform: %s on resource: %s %s",
		g.opts.Account, p.function, p.function, c.action, c.resource, v.reason(c)))
}

// Uses are all permissions with how often they were used so far, and then the
// calls that were denied, by function.
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
