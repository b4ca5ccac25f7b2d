package boot_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
)

// TestRevoking covers the whole path, from a revoked share to its watchers.
func TestRevoking(t *testing.T) {
	w := newWatched(t)
	if _, err := w.store.Sessions.Create(t.Context(), session.New{ID: "s", UserID: "alice"}); err != nil {
		t.Fatal(err)
	}
	w.mustShare(t, "bobs", "bob")
	w.mustShare(t, "carols", "carol")
	var nexts []func() (reading, error)
	for _, user := range []string{"alice", "bob", "carol"} {
		send, next, _ := w.dial(t, user)
		send(`{"action":"subscribe","session_id":"s"}`)
		until(t, next, "subscribed", "thread.status")
		nexts = append(nexts, next)
	}
	status, nextSSE := w.openSSEAs(t, "bob")
	if status != http.StatusOK {
		t.Fatalf("the stream answers %d", status)
	}
	until(t, nextSSE, "thread.status")
	w.mustAppend(t, "before")
	for _, next := range append(nexts, nextSSE) {
		until(t, next, "item.snapshot")
	}
	if err := w.store.Shares.Revoke(t.Context(), "alice", "s", "bobs"); err != nil {
		t.Fatal(err)
	}
	w.mustAppend(t, "after")
	t.Run("the guest gets one unsubscribed notice", func(t *testing.T) {
		if m, err := nexts[1](); err != nil || m.Type != "unsubscribed" || m.Reason != "revoked" || m.Status != 403 {
			t.Errorf("got %+v, %v", m, err)
		}
	})
	t.Run("the guest's server-sent events end with a notice too", func(t *testing.T) {
		if m, err := nextSSE(); err != nil || m.Type != "unsubscribed" || m.Reason != "revoked" {
			t.Errorf("got %+v, %v", m, err)
		}
		if m, err := nextSSE(); err == nil {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("other watchers still get messages", func(t *testing.T) {
		until(t, nexts[0], "item.snapshot")
		until(t, nexts[2], "item.snapshot")
	})
	t.Run("the guest cannot reconnect", func(t *testing.T) {
		if status, _ := w.openSSEAs(t, "bob"); status != http.StatusForbidden {
			t.Errorf("the stream answers %d", status)
		}
	})
}

// A share whose revocation was interrupted before its subscriptions were marked ends
// them too.
func TestRevokingThatWasCutShort(t *testing.T) {
	w := newWatched(t)
	if _, err := w.store.Sessions.Create(t.Context(), session.New{ID: "s", UserID: "alice"}); err != nil {
		t.Fatal(err)
	}
	w.mustShare(t, "share", "bob")
	send, next, _ := w.dial(t, "bob")
	send(`{"action":"subscribe","session_id":"s"}`)
	until(t, next, "subscribed", "thread.status")
	log, err := w.store.Subscriptions.LogOf(t.Context(), "alice", "s")
	if err != nil {
		t.Fatal(err)
	}
	_, err = dynamotest.Client(t).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: &w.table, Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "SH#" + log}, "SK": &types.AttributeValueMemberS{Value: "S#share"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := next(); err != nil || m.Type != "unsubscribed" || m.Reason != "revoked" {
		t.Errorf("got %+v, %v", m, err)
	}
}

func (w *watched) mustShare(t *testing.T, id, user string) {
	t.Helper()
	_, err := w.store.Shares.Share(t.Context(), access.NewShare{
		ID: id, OwnerID: "alice", SessionID: "s", Right: access.Read, UserID: user,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *watched) mustAppend(t *testing.T, invocation string) {
	t.Helper()
	_, _, err := w.store.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: "alice", Events: []session.Event{
		mustParse(t, `{"invocation_id":"`+invocation+`","author":"user"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
}
