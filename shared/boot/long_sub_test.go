package boot_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
)

// A user id too long for a key of the table gets 401 on every route, before any access
// to the table: these handlers have none.
func TestLongSub(t *testing.T) {
	t.Parallel()
	for _, sub := range []string{strings.Repeat("x", 257), strings.Repeat("😀", 193), "\xff"} {
		for _, path := range []string{"/api/v1/sessions", "/api/v1/me/usage", "/api/v1/sessions/s/events"} {
			event := captured[events.APIGatewayV2HTTPRequest](t, "apigw-v2-request-jwt-authorizer")
			event.RequestContext.HTTP.Method, event.RawPath, event.RouteKey = http.MethodGet, path, "GET "+path
			event.PathParameters, event.RequestContext.Authorizer.JWT.Claims = nil, map[string]string{"sub": sub}
			answer, err := boot.HTTP(sessions.Sessions(rest.Config{Log: slog.New(slog.DiscardHandler), Now: time.Now}))(t.Context(), event)
			if err != nil || answer.StatusCode != http.StatusUnauthorized {
				t.Errorf("%.9s at %s: %d %s, %v", sub, path, answer.StatusCode, answer.Body, err)
			}
		}
		event := streamEvent(time.Now())
		event.RequestContext.Authorizer["sub"] = sub
		agents := a2a.New(frontend.Config{Agents: anyAgent{}, Log: slog.New(slog.DiscardHandler), Now: time.Now}, a2a.Config{})
		answer, err := boot.Streaming(agents, slog.New(slog.DiscardHandler), time.Now)(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%.9s: %d %s, %v", sub, answer.StatusCode, text, err)
		}
	}
}

type anyAgent struct{}

func (anyAgent) HasAgent(string) bool { return true }

// MayCall lets everybody call.
func (anyAgent) MayCall(context.Context, string) bool { return true }
