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

// Why an authorizer did not let a request in.
var (
	// ErrUnauthorized answers 401: an identity source is missing, or the function
	// failed with the message Unauthorized.
	ErrUnauthorized = errors.New("Unauthorized")
	// ErrDenied and ErrExplicitlyDenied answer 403.
	ErrDenied           = errors.New("User is not authorized to access this resource")                       //nolint:staticcheck // as above
	ErrExplicitlyDenied = errors.New("User is not authorized to access this resource with an explicit deny") //nolint:staticcheck // as above
	// ErrAuthorizer answers 500: the function failed, or its answer is no policy.
	ErrAuthorizer = errors.New("the authorizer failed")
)

// authorizerTimeout is how long API Gateway waits for an authorizer.
const authorizerTimeout = 29 * time.Second

// Invoker runs functions.
type Invoker interface {
	Invoke(ctx context.Context, name string, payload []byte) (*lambda.Result, error)
}

// Authorizer asks a function of the REQUEST kind whether a request may pass.
// Its answers are not kept.
type Authorizer struct {
	// Function is a logical id.
	Function string
	// Identity are the sources that must all be there and not be empty, such as
	// "method.request.header.Authorization" or "route.request.querystring.token".
	// Without any the function is asked about every request.
	Identity []string
	Invoker  Invoker
}

// Check returns an error for identity sources other than headers and query
// parameters.
func (a *Authorizer) Check() error {
	for _, source := range a.Identity {
		if kind, _ := sourceOf(source); kind == "" {
			return fmt.Errorf("authorizer %s: identity source %s is not supported here", a.Function, source)
		}
	}
	return nil
}

// Ask returns what the request's events carry under requestContext.authorizer:
// principalId and the function's context, or one of the package's errors. The
// event is the authorizer's own; arn is the route that is asked for.
func (a *Authorizer) Ask(ctx context.Context, r *http.Request, arn string, event any) (map[string]any, error) {
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

// failure tells a refusal from a mishap: a function refuses by failing with
// exactly this message.
func failure(payload []byte) error {
	var described struct {
		Message string `json:"errorMessage"`
	}
	if json.Unmarshal(payload, &described) == nil && described.Message == ErrUnauthorized.Error() {
		return ErrUnauthorized
	}
	return fmt.Errorf("%w: %s", ErrAuthorizer, payload)
}

// verdict is what the function answers.
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
	values, err := contextTexts(v.Context)
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

// contextTexts turns the context's values into texts, as functions get them.
// Lists and objects are not allowed.
func contextTexts(given map[string]any) (map[string]any, error) {
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
			return nil, fmt.Errorf("%w: context value %s is neither text, number nor boolean", ErrAuthorizer, name)
		}
	}
	return texts, nil
}

// sourceOf takes an identity source apart: header or querystring, and the name.
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

// Status is what a request is answered that an authorizer did not let in, with
// the message to show.
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
