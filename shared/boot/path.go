package boot

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
)

// errPath says that the path of a request cannot be determined from its event.
var errPath = errors.New("the gateway's event does not determine the requested path")

// routedPath returns the escaped path of an HTTP API's request, built from the route
// and its parameters. The event's own path is decoded, so that a slash inside a
// parameter looks like any other, and is cut at an escaped "?": it is used only for
// comparison. If the two differ, it returns errPath.
func routedPath(event events.APIGatewayV2HTTPRequest) (string, error) {
	_, route, ok := strings.Cut(event.RouteKey, " ")
	if !ok {
		return "", errPath // the route $default has no parameters
	}
	parts := strings.Split(route, "/")
	for i, part := range parts {
		name, isParameter := strings.CutPrefix(part, "{")
		if !isParameter {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		name, greedy := strings.CutSuffix(name, "+")
		value, given := event.PathParameters[name]
		if !given || value == "" {
			return "", errPath
		}
		parts[i] = url.PathEscape(value)
		if greedy {
			parts[i] = escapeSegments(value)
		}
	}
	path := strings.Join(parts, "/")
	decoded, err := url.PathUnescape(path)
	if err != nil || !isSamePath(event, decoded) {
		return "", errPath
	}
	return path, nil
}

// isSamePath reports whether the event's own path is the decoded one, complete or cut
// at its first "?", with or without the stage.
func isSamePath(event events.APIGatewayV2HTTPRequest, decoded string) bool {
	cut, _, _ := strings.Cut(decoded, "?")
	stage := "/" + event.RequestContext.Stage
	for _, raw := range []string{event.RawPath, strings.TrimPrefix(event.RawPath, stage)} {
		if raw == decoded || raw == cut {
			return true
		}
	}
	return false
}

// normalPath returns the path of a REST API's request, which has the caller's escapes,
// with the escapes of net/http, so that each character has one notation.
func normalPath(path string) (string, error) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		decoded, err := url.PathUnescape(part)
		if err != nil {
			return "", errPath
		}
		parts[i] = url.PathEscape(decoded)
	}
	return strings.Join(parts, "/"), nil
}

// publicPrefix returns the part before the path in the address that the caller used:
// the stage, or the base path of a custom domain. full is the path with it, which a
// gateway may escape differently.
func publicPrefix(full, path string) string {
	if prefix, ok := strings.CutSuffix(full, path); ok {
		return strings.TrimSuffix(prefix, "/")
	}
	full, err := normalPath(full)
	if err != nil {
		return ""
	}
	if path, err = normalPath(path); err != nil {
		return ""
	}
	prefix, ok := strings.CutSuffix(full, path)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(prefix, "/")
}

func escapeSegments(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// refusePath answers a request whose path cannot be determined.
func refusePath(w http.ResponseWriter, _ *http.Request) {
	problem.New(fault.New(fault.Malformed, "The path cannot be determined from the gateway's request."), "").Write(w)
}

// refusing answers every request with a fault, in the form of a handler's own refusals.
func refusing(h http.Handler, err error) http.HandlerFunc {
	if own, ok := h.(interface {
		Refuse(w http.ResponseWriter, err error)
	}); ok {
		return func(w http.ResponseWriter, _ *http.Request) { own.Refuse(w, err) }
	}
	f, _ := problem.Of(err)
	return func(w http.ResponseWriter, _ *http.Request) { problem.New(f, "").Write(w) }
}
