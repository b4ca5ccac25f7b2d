package boot_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/boot"
)

// A request ends two seconds before its function, so that it is still answered.
func TestHTTP_keeps_time_back(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	end, _ := ctx.Deadline()
	var got time.Time
	handler := boot.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = r.Context().Deadline()
		w.WriteHeader(http.StatusNoContent)
	}))
	event := captured[events.APIGatewayV2HTTPRequest](t, "apigw-v2-request-jwt-authorizer")
	event.RouteKey, event.RawPath = "GET /sessions", "/sessions"
	if _, err := handler(ctx, event); err != nil {
		t.Fatal(err)
	}
	if left := end.Sub(got); left != 2*time.Second {
		t.Errorf("the request ends %s before the function, want 2 s", left)
	}
}
