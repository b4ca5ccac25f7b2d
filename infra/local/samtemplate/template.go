// Package samtemplate reads the system's AWS SAM template into typed values:
// tables, functions with their event sources, and gateways, with parameters,
// conditions and intrinsic functions resolved. Unsupported parts are errors with a
// line number; nothing is ignored silently.
package samtemplate

import "time"

// Template is the part of a SAM template that the local host runs.
type Template struct {
	Functions     []Function
	Tables        []Table
	HTTPAPIs      []HTTPAPI
	RESTAPIs      []RESTAPI
	WebSocketAPIs []WebSocketAPI
	Queues        []Queue
}

// Function is a Lambda function.
type Function struct {
	LogicalID   string
	Name        string
	CodeURI     string
	Handler     string
	Runtime     string
	Timeout     time.Duration
	MemoryMB    int
	Environment map[string]string
	// LogFormat and LogLevel configure the function's log.
	LogFormat, LogLevel string
	// Reserved is the reserved concurrency; nil means unreserved.
	Reserved  *int
	Routes    []Route
	Schedules []Schedule
	Streams   []Stream
	Queues    []QueueMapping
	// Async configures asynchronous invocations; nil means Lambda's defaults.
	Async *AsyncInvoke
	// Permissions are what the function's own policies and the managed policies that
	// it names allow and deny. Those that SAM adds for logs, traces and event sources
	// are not included.
	Permissions []Permission
}

// Route is an HTTP API's or a REST API's route to a function.
type Route struct {
	// API is the logical id of the API.
	API    string
	Method string // upper case, or ANY
	Path   string // "$default" matches requests that no other route matches
	// Authorizer is the name of one of the API's authorizers; empty means public.
	Authorizer string
	Timeout    time.Duration
}

// Schedule invokes a function at fixed times.
type Schedule struct {
	Name       string
	Expression string
	Enabled    bool
}

// Table is a DynamoDB table.
type Table struct {
	LogicalID  string
	Name       string
	Attributes []Attribute
	Key        []KeyElement
	Indexes    []Index
	// StreamView is empty if the table has no stream.
	StreamView string
	// TTLAttribute is empty if items do not expire.
	TTLAttribute string
}

// Attribute is a key attribute's type: S, N or B.
type Attribute struct{ Name, Type string }

// KeyElement is a part of a key: HASH or RANGE.
type KeyElement struct{ Name, Type string }

// Index is a global secondary index.
type Index struct {
	Name       string
	Key        []KeyElement
	Projection string
	NonKey     []string
}

// Throttle limits the requests to a stage: Rate per second, with bursts of up to
// Burst. The zero value means no limit.
type Throttle struct {
	Rate  float64
	Burst int
}

// HTTPAPI is an API Gateway HTTP API.
type HTTPAPI struct {
	LogicalID string
	Name      string
	Stage     string
	Throttle  Throttle
	CORS      *CORS
	JWT       map[string]JWTAuthorizer
	// DefaultAuthorizer is the authorizer of routes that name none.
	DefaultAuthorizer string
}

// RESTAPI is an API Gateway REST API.
type RESTAPI struct {
	LogicalID string
	Stage     string
	Variables map[string]string // of the stage, which events name
	Throttle  Throttle
	// CORS configures the answers to preflight requests; nil means none.
	CORS   *RESTCORS
	Lambda map[string]LambdaAuthorizer
	// DefaultAuthorizer is the authorizer of routes that name none.
	DefaultAuthorizer string
	// Errors are the gateway's own errors, by their types: DEFAULT_4XX, UNAUTHORIZED …
	Errors map[string]GatewayError
}

// GatewayError is what a template configures for an error of a REST API itself.
type GatewayError struct {
	Status  int // 0 for the gateway's own
	Headers map[string]string
	Body    string // a template; "" for the gateway's own
}

// RESTCORS are the headers of the answer to a preflight request. The functions set
// the CORS headers of all other answers.
type RESTCORS struct {
	AllowOrigin  string
	AllowMethods string // empty means the methods of the path
	AllowHeaders string
	MaxAge       string
}

// CORS is a gateway's cross-origin configuration.
type CORS struct {
	AllowOrigins  []string
	AllowMethods  []string
	AllowHeaders  []string
	ExposeHeaders []string
	MaxAge        int
}

// JWTAuthorizer accepts requests with a token of its issuer.
type JWTAuthorizer struct {
	Issuer         string
	Audience       []string
	IdentitySource string
}

// LambdaAuthorizer invokes a function that accepts or refuses requests.
type LambdaAuthorizer struct {
	// Function is the logical id of the function.
	Function string
}

// WebSocketAPI is an API Gateway WebSocket API.
type WebSocketAPI struct {
	LogicalID      string
	Stage          string
	Throttle       Throttle
	RouteSelection string
	// Routes are keyed by route key: $connect, $disconnect, $default and the
	// application's own.
	Routes map[string]WebSocketRoute
	// Authorizer is the logical id of the function that authorizes $connect, or empty.
	Authorizer string
	// Identity are the sources that a $connect request must have to be authorized.
	Identity []string
}

// WebSocketRoute is a WebSocket API's route to a function.
type WebSocketRoute struct {
	// Function is the logical id of the function.
	Function string
	Timeout  time.Duration
}

// Function returns the function with that name or logical id.
func (t *Template) Function(name string) (Function, bool) {
	for _, f := range t.Functions {
		if f.Name == name || f.LogicalID == name {
			return f, true
		}
	}
	return Function{}, false
}
