package watch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/watch"
)

func TestSubscription(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_500)
	for name, c := range map[string]struct {
		sub  watch.Subscription
		want watch.Reason
	}{
		"an owner's subscription lasts as long as the token":             {watch.Subscription{Expires: 1_800_000_001}, ""},
		"a token expires at its second":                                  {watch.Subscription{Expires: 1_800_000_000}, watch.ReasonToken},
		"one without the expiry of its token lasts":                      {watch.Subscription{}, ""},
		"a guest's subscription may be unlimited":                        {guest("c", 0), ""},
		"a guest's subscription ends with the share, to the millisecond": {guest("c", 1_800_000_000_501), ""},
		"when it is over": {guest("c", 1_800_000_000_500), watch.ReasonExpired},
		"an expired token takes precedence over an expired share": {watch.Subscription{Expires: 1, Grant: watch.Grant{Share: "s", Until: 1}}, watch.ReasonToken},
		"a revoked subscription has ended":                        {watch.Subscription{Revoked: true, Expires: 1}, watch.ReasonRevoked},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.sub.EndReason(now); got != c.want {
				t.Errorf("over: %q, want %q", got, c.want)
			}
		})
	}
}

func guest(connection string, until int64) watch.Subscription {
	return watch.Subscription{
		SessionID: "s", Connection: connection, Grant: watch.Grant{Share: "share", UserID: "bob", Until: until},
	}
}

// notice is the frame that a connection gets when its subscription ends.
func notice(reason string, status int) string {
	return fmt.Sprintf(`{"type":"unsubscribed","session_id":"s","reason":%q,"status":%d}`, reason, status)
}

func TestCloseSubscriptions(t *testing.T) {
	past := time.Now().Add(-time.Second)
	ended := watch.Subscription{SessionID: "s", Connection: "token", Expires: past.Unix()}
	withdrawn := watch.Subscription{SessionID: "s", Connection: "revoked", Revoked: true}
	subs := []watch.Subscription{ended, guest("expired", past.UnixMilli()), withdrawn, guest("good", 0)}
	t.Run("sends an ended subscription one notice instead of messages", func(t *testing.T) {
		a, l := newAudience(nil), newFakePusher()
		a.guests = map[string][]watch.Subscription{"a": subs}
		wantDelivered(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{wholeEvent("a", 1), wholeEvent("a", 2)}))
		for connection, want := range map[string]string{
			"token": notice("token_expired", 401), "expired": notice("expired", 403), "revoked": notice("revoked", 403),
		} {
			if diff := cmp.Diff([]string{want}, l.at(connection).got); diff != "" {
				t.Errorf("%s got (-want +got):\n%s", connection, diff)
			}
			if closed := l.at(connection).closed; closed != (connection == "token") {
				t.Errorf("%s is closed: %v", connection, closed)
			}
		}
		wantGot(t, l, "good", "0.1.0", "0.2.0")
		slices.Sort(a.cleared)
		if diff := cmp.Diff([]string{"expired", "revoked", "token"}, a.cleared); diff != "" {
			t.Errorf("cleared (-want +got):\n%s", diff)
		}
	})
	t.Run("a revoked grant ends its subscriptions without any messages", func(t *testing.T) {
		a, l := newAudience(map[string][]string{"a": {"owner"}}), newFakePusher()
		carol := guest("carol", 0)
		carol.Grant.UserID = "carol"
		other := guest("other", 0)
		other.Grant.Share = "another share"
		a.guests = map[string][]watch.Subscription{"a": {guest("bob", 0), carol, other}}
		f := newFanout(a, l)
		wantDelivered(t, f.Deliver(t.Context(), []watch.LogUpdate{{Log: "a", Revoked: []watch.Grant{{Share: "share", UserID: "bob"}}}}))
		if diff := cmp.Diff([]string{"bob"}, a.cleared); diff != "" {
			t.Errorf("cleared (-want +got):\n%s", diff)
		}
		wantDelivered(t, f.Deliver(t.Context(), []watch.LogUpdate{{Log: "a", Revoked: []watch.Grant{{Share: "share"}}}}))
		if diff := cmp.Diff([]string{notice("revoked", 403)}, l.at("carol").got); diff != "" {
			t.Errorf("carol got (-want +got):\n%s", diff)
		}
		if got := slices.Concat(l.at("owner").got, l.at("other").got); len(got) != 0 {
			t.Errorf("others got %v", got)
		}
	})
	t.Run("sends no notice for a share that was deleted with its session", func(t *testing.T) {
		a, l := newAudience(nil), newFakePusher()
		a.guests = map[string][]watch.Subscription{"a": {guest("bob", 0)}}
		wantDelivered(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{
			{Log: "a", Messages: []watch.Message{{Type: watch.Deleted}}}, {Log: "a", Revoked: []watch.Grant{{Share: "share"}}},
		}))
		want := []string{`{"type":"thread.deleted","session_id":"session of a","cursor":"0.0.0","prev":"0.0.0"}`}
		if diff := cmp.Diff(want, l.at("bob").got); diff != "" {
			t.Errorf("bob got (-want +got):\n%s", diff)
		}
	})
	t.Run("sends no notice to a connection that is gone", func(t *testing.T) {
		a, l := newAudience(nil), newFakePusher()
		a.guests = map[string][]watch.Subscription{"a": {withdrawn}}
		l.at("revoked").answers = []error{watch.ErrGone}
		wantDelivered(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{wholeEvent("a", 1)}))
		if diff := cmp.Diff([]string{"revoked"}, a.cleared); diff != "" {
			t.Errorf("cleared (-want +got):\n%s", diff)
		}
	})
	t.Run("retries a connection that can be neither notified nor closed", func(t *testing.T) {
		a, l := newAudience(nil), newFakePusher()
		a.guests = map[string][]watch.Subscription{"a": {withdrawn}}
		*l.at("revoked") = fakeConnection{answers: []error{errBroken}, deaf: true}
		if errs := newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{wholeEvent("a", 1)}); errs[0] == nil {
			t.Error("nobody is told that it failed")
		}
		if len(a.cleared) != 0 {
			t.Errorf("cleared %v", a.cleared)
		}
	})
}
