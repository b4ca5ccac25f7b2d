package a2a

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Supported protocol versions.
const (
	current = "1.0"
	legacy  = "0.3"
)

// version returns the protocol version that a request asks for, major and
// minor, as the protocol compares them; "" if it does not name one.
func version(r *http.Request) string {
	value := strings.TrimSpace(r.Header.Get(versionHeader))
	if value == "" {
		value = strings.TrimSpace(r.URL.Query().Get(lib.SvcParamVersion))
	}
	return majorMinor(value)
}

func majorMinor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return version
	}
	return parts[0] + "." + parts[1]
}

// legacyMethod reports whether a JSON-RPC request names a method as version 0.3
// does: with a slash.
func legacyMethod(body []byte) bool {
	var request struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(body, &request) == nil && strings.Contains(request.Method, "/")
}

// guard intercepts every call: it refuses unsupported versions and converts the
// domain's faults to the protocol's errors.
type guard struct{ log *slog.Logger }

// Before implements a2asrv.CallInterceptor.
func (g guard) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	if hasUnsupportedType(ctx) {
		return ctx, nil, errUnsupportedType
	}
	if err := bodyErrorOf(ctx); err != nil {
		return ctx, nil, err
	}
	values, _ := call.ServiceParams().Get(lib.SvcParamVersion)
	for _, v := range values {
		switch majorMinor(strings.TrimSpace(v)) {
		case "", current, legacy:
		default:
			return ctx, nil, lib.NewError(lib.ErrVersionNotSupported, "this server speaks A2A 1.0 and 0.3")
		}
	}
	return ctx, nil, nil
}

// After implements a2asrv.CallInterceptor.
func (g guard) After(ctx context.Context, call *a2asrv.CallContext, answer *a2asrv.Response) error {
	if answer.Err != nil {
		answer.Err = g.protocolError(ctx, call.Method(), answer.Err)
	}
	return nil
}
