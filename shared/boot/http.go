package boot

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/transport/rest"
)

// inlineBody is the largest body in bytes that is returned to the gateway as text. Text
// is quoted inside JSON, where a byte may become six; base64, used for larger ones,
// grows only by a third.
const inlineBody = 128 << 10

// HTTP adapts a handler to the HTTP API's events, payload format 2.0.
func HTTP(h http.Handler) func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	var accessor core.RequestAccessorV2
	identities := NewIdentities()
	return func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		ctx, cancel := retry.Reserving(records.Fencing(ctx), records.AnswerTime)
		defer cancel()
		next := h
		path, err := routedPath(event)
		if err != nil {
			next, path = http.HandlerFunc(refusePath), "/"
		}
		ctx, refused := identified(ctx, event, identities)
		if refused != nil {
			next = refusing(h, refused)
		}
		event.RawPath = path
		r, err := accessor.EventToRequestWithContext(ctx, event)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, fmt.Errorf("convert the gateway's event: %w", err)
		}
		for name, value := range event.Headers { // the adapter split values at commas
			r.Header[http.CanonicalHeaderKey(name)] = []string{value}
		}
		w := core.NewProxyResponseWriterV2()
		next.ServeHTTP(w, r)
		answer, err := w.GetProxyResponse()
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, fmt.Errorf("convert the answer: %w", err)
		}
		if !answer.IsBase64Encoded && len(answer.Body) > inlineBody {
			answer.Body = base64.StdEncoding.EncodeToString([]byte(answer.Body))
			answer.IsBase64Encoded = true
		}
		return answer, nil
	}
}

// identified returns a context with the caller, as verified by the gateway's authorizer,
// and the request's id. Its error is the fault that refuses the request.
func identified(ctx context.Context, event events.APIGatewayV2HTTPRequest, identities Identities) (context.Context, error) {
	ctx = rest.WithRequestID(ctx, event.RequestContext.RequestID)
	caller, err := identities.httpCaller(event)
	if err == nil {
		logs.Add(ctx, aboutUser(caller)...)
	}
	return access.WithCaller(ctx, caller), err
}

// aboutUser returns the attributes of a caller for the log.
func aboutUser(c access.Caller) []slog.Attr {
	if c.Acts() {
		return []slog.Attr{logs.User(c.UserID), logs.Person(logs.ServiceID, c.Service)}
	}
	return []slog.Attr{logs.User(c.UserID)}
}

// API returns the configuration of the HTTP handlers, without StartRun, which few need.
func (d Deps) API() rest.Config {
	return rest.Config{
		Sessions: d.Store.Sessions, Rewinds: d.Store.History, Artifacts: d.Store.Artifacts, Tasks: d.Store.Tasks, Feedback: d.Store.Feedback,
		Idempotency: d.Store.Idempotency, Exports: d.Store.Archives, Imports: d.Store.Archives, Erasures: d.Store.Lifecycle, Quotas: d.Store.Runs,
		Grants: d.Store.Shares, Shares: d.Store.Shares, NewToken: rand.Text,
		Automations: d.Store.Automations,
		Runs:        d.Store.Runs, Agents: d,
		Log: d.Log, Now: d.Now, NewID: uuid.NewString,
	}
}
