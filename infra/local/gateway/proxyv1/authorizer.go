package proxyv1

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
)

// Errors of an authorizer that refuses a request.
var (
	// ErrUnauthorized means 401: an identity source is missing, or the function failed
	// with the message Unauthorized.
	ErrUnauthorized = errors.New("Unauthorized")
	// ErrDenied and ErrExplicitlyDenied mean 403.
	ErrDenied           = errors.New("User is not authorized to access this resource")                       //nolint:staticcheck // the text is API Gateway's message
	ErrExplicitlyDenied = errors.New("User is not authorized to access this resource with an explicit deny") //nolint:staticcheck // the text is API Gateway's message
	// ErrAuthorizer means 500: the function failed, or its answer is not a valid
	// policy.
	ErrAuthorizer = errors.New("the authorizer failed")
)

// authorizerTimeout is how long API Gateway waits for an authorizer.
const authorizerTimeout = 29 * time.Second

// Invoker runs functions.
type Invoker interface {
	Invoke(ctx context.Context, name string, payload []byte) (*lambda.Result, error)
}

// Authorizer is a Lambda authorizer of the REQUEST type. Its answers are not
// cached.
type Authorizer struct {
	// Function is a logical id.
	Function string
	// Identity are the sources that must all be present and not empty, such as
	// "method.request.header.Authorization" or "route.request.querystring.token". If
	// there are none, the function is invoked for every request.
	Identity []string
	Invoker  Invoker
}

// Check returns an error for identity sources other than headers and query
// parameters.
func (a *Authorizer) Check() error {
	for _, source := range a.Identity {
		if kind, _ := sourceOf(source); kind == "" {
			return fmt.Errorf("authorizer %s: identity source %s is not supported by the local host", a.Function, source)
		}
	}
	return nil
}

// Authorize returns the member requestContext.authorizer of the request's event,
// principalId and the function's context, or one of the package's errors. event is
// the authorizer's event; arn identifies the requested route.
func (a *Authorizer) Authorize(ctx context.Context, r *http.Request, arn string, event any) (map[string]any, error) {
	for _, source := range a.Identity {
		if identityOf(r, source) == "" {
			return nil, fmt.Errorf("%w: %s is missing", ErrUnauthorized, source)
		}
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAuthorizer, err)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, authorizerTimeout)
	defer cancel()
	result, err := a.Invoker.Invoke(ctx, a.Function, payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAuthorizer, err)
	}
	result.Collect()
	if result.FunctionError != "" {
		return nil, failure(result.Payload)
	}
	return readVerdict(result.Payload, arn, time.Since(began))
}

// failure distinguishes a refusal from an error: a function refuses by failing
// with exactly this message.
func failure(payload []byte) error {
	var described struct {
		Message string `json:"errorMessage"`
	}
	if json.Unmarshal(payload, &described) == nil && described.Message == ErrUnauthorized.Error() {
		return ErrUnauthorized
	}
	return fmt.Errorf("%w: %s", ErrAuthorizer, payload)
}

// verdict is the function's answer.
type verdict struct {
	PrincipalID string         `json:"principalId"`
	Policy      *policy        `json:"policyDocument"`
	Context     map[string]any `json:"context"`
}

func readVerdict(payload []byte, arn string, latency time.Duration) (map[string]any, error) {
	var v verdict
	if err := json.Unmarshal(payload, &v); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAuthorizer, err)
	}
	if v.PrincipalID == "" || v.Policy == nil {
		return nil, fmt.Errorf("%w: principalId or policyDocument is missing", ErrAuthorizer)
	}
	values, err := contextStrings(v.Context)
	if err != nil {
		return nil, err
	}
	if err := v.Policy.permits(arn); err != nil {
		return nil, err
	}
	values["principalId"] = v.PrincipalID
	values["integrationLatency"] = millis(latency)
	return values, nil
}

// contextStrings converts the context's values to strings, as functions receive
// them. Lists and objects are not allowed.
func contextStrings(given map[string]any) (map[string]any, error) {
	texts := map[string]any{}
	for name, value := range given {
		switch value := value.(type) {
		case string:
			texts[name] = value
		case float64:
			texts[name] = strconv.FormatFloat(value, 'f', -1, 64)
		case bool:
			texts[name] = strconv.FormatBool(value)
		default:
			return nil, fmt.Errorf("%w: context value %s is not a string, number or boolean", ErrAuthorizer, name)
		}
	}
	return texts, nil
}

// sourceOf splits an identity source into its kind, header or querystring, and the
// name.
func sourceOf(source string) (kind, name string) {
	_, rest, _ := strings.Cut(source, ".request.")
	kind, name, _ = strings.Cut(rest, ".")
	if (kind != "header" && kind != "querystring") || name == "" {
		return "", ""
	}
	return kind, name
}

func identityOf(r *http.Request, source string) string {
	kind, name := sourceOf(source)
	if kind == "querystring" {
		return r.URL.Query().Get(name)
	}
	return r.Header.Get(name)
}

// Status returns the status and the message for a request that an authorizer
// refused.
func Status(err error) (status int, message string) {
	switch {
	case errors.Is(err, ErrUnauthorized):
		return http.StatusUnauthorized, ErrUnauthorized.Error()
	case errors.Is(err, ErrDenied):
		return http.StatusForbidden, ErrDenied.Error()
	case errors.Is(err, ErrExplicitlyDenied):
		return http.StatusForbidden, ErrExplicitlyDenied.Error()
	default:
		return http.StatusInternalServerError, "Internal server error"
	}
}
