package ws_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
)

func as(user, scope string) func(*events.APIGatewayWebsocketProxyRequest) {
	return func(e *events.APIGatewayWebsocketProxyRequest) {
		e.Body = `{"action":"subscribe","session_id":"s1","request_id":"r"}`
		e.RequestContext.Authorizer = map[string]any{"sub": user, "exp": strconv.Itoa(now + 60), "admin": strconv.FormatBool(scope == "rethread:admin")}
	}
}

func TestWatchPermission(t *testing.T) {
	described := mustContract(t)
	grant := access.Grant{Share: "sh", Right: access.Read, Until: (now + 5) * 1000}
	other := access.Grant{Share: "other", Right: access.Read}
	refused := `{"type":"error","request_id":"r","session_id":"s1","status":403,"code":"forbidden","title":"Forbidden",` +
		`"detail":"You do not have permission to access this session"}`
	subscribed := `{"type":"subscribed","request_id":"r","session_id":"s1"}`
	sub := func(user string, g watch.Grant) watch.Subscription {
		return watch.Subscription{SessionID: "s1", Owner: user, Connection: "c1=", Expires: now + 60, Grant: g}
	}
	for name, c := range map[string]struct {
		user, scope   string
		grants, later []access.Grant
		answer        string
		sub           *watch.Subscription
		calls         string
	}{
		"the owner, without reading shares": {
			user: "alice", answer: subscribed, sub: new(sub("alice", watch.Grant{})),
			calls: "subscribe alice s1 c1=; since alice s1 - item:",
		},
		"a guest, until the share expires": {
			user: "bob", grants: []access.Grant{grant}, later: []access.Grant{grant}, answer: subscribed,
			sub:   new(sub("alice", watch.Grant{Share: "sh", UserID: "bob", Until: grant.Until})),
			calls: "subscribe bob s1 c1=; grants bob s1; subscribe alice s1 c1=; since alice s1 - item:; grants bob s1",
		},
		"not a guest whose share was revoked during the call": {
			user: "bob", grants: []access.Grant{grant}, answer: refused,
			sub: new(sub("alice", watch.Grant{Share: "sh", UserID: "bob", Until: grant.Until})),
			calls: "subscribe bob s1 c1=; grants bob s1; subscribe alice s1 c1=; since alice s1 - item:; grants bob s1; " +
				"unsubscribe bob s1 c1=",
		},
		"a guest with another valid share": {
			user: "bob", grants: []access.Grant{grant}, later: []access.Grant{other}, answer: subscribed,
			sub:   new(sub("alice", watch.Grant{Share: "sh", UserID: "bob", Until: grant.Until})),
			calls: "subscribe bob s1 c1=; grants bob s1; subscribe alice s1 c1=; since alice s1 - item:; grants bob s1",
		},
		"an admin": {
			user: "root", scope: "rethread:admin", answer: subscribed, sub: new(sub("alice", watch.Grant{})),
			calls: "subscribe root s1 c1=; grants root s1; subscribe alice s1 c1=; since alice s1 - item:",
		},
		"not a guest whose share has expired": {
			user: "bob", grants: []access.Grant{{Share: "sh", Right: access.Write, Until: now * 1000}}, answer: refused,
			calls: "subscribe bob s1 c1=; grants bob s1",
		},
		"not a caller without a share": {user: "bob", answer: refused, calls: "subscribe bob s1 c1=; grants bob s1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeDomain(t)
			w.grants, w.later = c.grants, c.later
			got := w.sendEvent(as(c.user, c.scope))
			wantFrames(t, got, c.answer)
			wantContract(t, described, got)
			w.wantCalls(strings.Split(c.calls, "; ")...)
			var subs []watch.Subscription
			if c.sub != nil {
				subs = append(subs, *c.sub)
			}
			if diff := cmp.Diff(subs, w.subs); diff != "" {
				t.Errorf("subscriptions (-want +got):\n%s", diff)
			}
		})
	}
}
