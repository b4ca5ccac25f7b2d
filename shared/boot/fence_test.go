package boot_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/memory"
)

var errBroken = errors.New("broken")

// The requests of every kind of function can get a fence.
func TestRequests_can_be_fenced(t *testing.T) {
	t.Parallel()
	item := table.NewKey("p", "s").Item()
	var got error
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		records.AddFence(r.Context(), records.Fence{
			Check:  table.Check(table.NewKey("p", "share"), table.ItemExists()),
			Covers: func(table.Write) bool { return true }, Broken: errBroken,
		})
		got = records.New(memory.New(store.Schema()), uuid.New).Put(r.Context(), item)
	})
	for name, send := range map[string]func(context.Context) error{
		"HTTP": func(ctx context.Context) error {
			event := captured[events.APIGatewayV2HTTPRequest](t, "apigw-v2-request-jwt-authorizer")
			event.RouteKey, event.RawPath = "GET /sessions", "/sessions"
			_, err := boot.HTTP(h)(ctx, event)
			return err
		},
		"streaming": func(ctx context.Context) error {
			answer, err := boot.Streaming(h, slog.New(slog.DiscardHandler), time.Now)(ctx, streamEvent(time.Now()))
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, answer.Body) // until the handler has returned
			return errors.Join(err, answer.Body.(interface{ Close() error }).Close())
		},
	} {
		got = nil
		if err := send(t.Context()); err != nil || !errors.Is(got, errBroken) {
			t.Errorf("%s: %v; a write that depends on what is not there: %v, want %v", name, err, got, errBroken)
		}
	}
}
