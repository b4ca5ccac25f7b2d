package watch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/watch"
)

func TestSeat(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_500)
	for name, c := range map[string]struct {
		sub  watch.Subscription
		want watch.Reason
	}{
		"an owner's is good while the token is":    {watch.Subscription{Expires: 1_800_000_001}, ""},
		"a token ends with its second":             {watch.Subscription{Expires: 1_800_000_000}, watch.ReasonToken},
		"one of an earlier version says nothing":   {watch.Subscription{}, ""},
		"a guest's is good for ever":               {guest("c", 0), ""},
		"or until the share ends, to a thousandth": {guest("c", 1_800_000_000_501), ""},
		"when it is over":                          {guest("c", 1_800_000_000_500), watch.ReasonExpired},
		"the token tells more than the share":      {watch.Subscription{Expires: 1, Grant: watch.Grant{Share: "s", Until: 1}}, watch.ReasonToken},
		"what was revoked is over":                 {watch.Subscription{Revoked: true, Expires: 1}, watch.ReasonRevoked},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.sub.Over(now); got != c.want {
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

// notice is what a connection gets that watches no longer.
func notice(reason string, status int) string {
	return fmt.Sprintf(`{"type":"unsubscribed","session_id":"s","reason":%q,"status":%d}`, reason, status)
}

func TestDismiss(t *testing.T) {
	past := time.Now().Add(-time.Second)
	ended := watch.Subscription{SessionID: "s", Connection: "token", Expires: past.Unix()}
	withdrawn := watch.Subscription{SessionID: "s", Connection: "revoked", Revoked: true}
	subs := []watch.Subscription{ended, guest("expired", past.UnixMilli()), withdrawn, guest("good", 0)}
	t.Run("whose seat is over is told so instead of the news, once", func(t *testing.T) {
		a, l := newAudience(nil), newLines()
		a.guests = map[string][]watch.Subscription{"a": subs}
		wantTold(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{whole("a", 1), whole("a", 2)}))
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
	t.Run("a revoked grant ends its seats without any news", func(t *testing.T) {
		a, l := newAudience(map[string][]string{"a": {"owner"}}), newLines()
		carol := guest("carol", 0)
		carol.Grant.UserID = "carol"
		other := guest("other", 0)
		other.Grant.Share = "another share"
		a.guests = map[string][]watch.Subscription{"a": {guest("bob", 0), carol, other}}
		f := newFanout(a, l)
		wantTold(t, f.Deliver(t.Context(), []watch.LogUpdate{{Log: "a", Revoked: []watch.Grant{{Share: "share", UserID: "bob"}}}}))
		if diff := cmp.Diff([]string{"bob"}, a.cleared); diff != "" {
			t.Errorf("cleared (-want +got):\n%s", diff)
		}
		wantTold(t, f.Deliver(t.Context(), []watch.LogUpdate{{Log: "a", Revoked: []watch.Grant{{Share: "share"}}}}))
		if diff := cmp.Diff([]string{notice("revoked", 403)}, l.at("carol").got); diff != "" {
			t.Errorf("carol got (-want +got):\n%s", diff)
		}
		if got := slices.Concat(l.at("owner").got, l.at("other").got); len(got) != 0 {
			t.Errorf("others got %v", got)
		}
	})
	t.Run("a share that went with its session ends nothing that the session's end does not", func(t *testing.T) {
		a, l := newAudience(nil), newLines()
		a.guests = map[string][]watch.Subscription{"a": {guest("bob", 0)}}
		wantTold(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{
			{Log: "a", Messages: []watch.Message{{Type: watch.Deleted}}}, {Log: "a", Revoked: []watch.Grant{{Share: "share"}}},
		}))
		want := []string{`{"type":"thread.deleted","session_id":"session of a","cursor":"0.0.0","prev":"0.0.0"}`}
		if diff := cmp.Diff(want, l.at("bob").got); diff != "" {
			t.Errorf("bob got (-want +got):\n%s", diff)
		}
	})
	t.Run("a connection that is gone needs no farewell", func(t *testing.T) {
		a, l := newAudience(nil), newLines()
		a.guests = map[string][]watch.Subscription{"a": {withdrawn}}
		l.at("revoked").answers = []error{watch.ErrGone}
		wantTold(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{whole("a", 1)}))
		if diff := cmp.Diff([]string{"revoked"}, a.cleared); diff != "" {
			t.Errorf("cleared (-want +got):\n%s", diff)
		}
	})
	t.Run("one that can be neither told nor closed is tried again", func(t *testing.T) {
		a, l := newAudience(nil), newLines()
		a.guests = map[string][]watch.Subscription{"a": {withdrawn}}
		*l.at("revoked") = line{answers: []error{errBroken}, deaf: true}
		if errs := newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{whole("a", 1)}); errs[0] == nil {
			t.Error("nobody is told that it failed")
		}
		if len(a.cleared) != 0 {
			t.Errorf("cleared %v", a.cleared)
		}
	})
}
