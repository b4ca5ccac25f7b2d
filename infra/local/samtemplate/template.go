// Package samtemplate reads the system's AWS SAM template into typed values:
// tables, functions with what triggers them, and gateways, with parameters,
// conditions and intrinsic functions resolved. What it does not understand is
// an error that names the line: nothing is skipped in silence.
package samtemplate

import "time"

// Template is what of a SAM template runs outside of AWS.
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
	// LogFormat and LogLevel are what the function is told to log as.
	LogFormat, LogLevel string
	// Reserved is the reserved concurrency; nil means unreserved.
	Reserved  *int
	Routes    []Route
	Schedules []Schedule
	Streams   []Stream
	Queues    []QueueMapping
	// Async says how asynchronous invocations go; nil means Lambda's defaults.
	Async *AsyncInvoke
	// Permissions are what the function's own policies and the managed ones that
	// it names allow and deny; those that SAM adds for logs, traces and event
	// sources are not among them.
	Permissions []Permission
}

// Route is an HTTP API's or a REST API's route to a function.
type Route struct {
	// API is the logical id of the API.
	API    string
	Method string // upper case, or ANY
	Path   string // "$default" catches what nothing else does
	// Authorizer names one of the API's authorizers; empty means open to all.
	Authorizer string
	Timeout    time.Duration
}

// Schedule invokes a function at set times.
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
	// StreamView is empty when the table has no stream.
	StreamView string
	// TTLAttribute is empty when items do not expire.
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

// Throttle is how many requests a stage takes: Rate a second and, after a pause,
// Burst at once. The zero one bounds nothing.
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
	// DefaultAuthorizer holds for routes that name none.
	DefaultAuthorizer string
}

// RESTAPI is an API Gateway REST API.
type RESTAPI struct {
	LogicalID string
	Stage     string
	Throttle  Throttle
	// CORS is what preflight requests are answered; nil means that nothing is.
	CORS   *RESTCORS
	Lambda map[string]LambdaAuthorizer
	// DefaultAuthorizer holds for routes that name none.
	DefaultAuthorizer string
	// ErrorHeaders are added to the gateway's own answers, by the kinds
	// DEFAULT_4XX and DEFAULT_5XX.
	ErrorHeaders map[string]map[string]string
}

// RESTCORS are the headers of a preflight request's answer. What actual answers
// say about CORS is the functions' own matter.
type RESTCORS struct {
	AllowOrigin  string
	AllowMethods string // empty means the path's own
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

// JWTAuthorizer lets requests through that carry a token of its issuer.
type JWTAuthorizer struct {
	Issuer         string
	Audience       []string
	IdentitySource string
}

// LambdaAuthorizer asks a function whether a request may pass.
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
	// Routes are by route key: $connect, $disconnect, $default and the
	// application's own.
	Routes map[string]WebSocketRoute
	// Authorizer is the logical id of the function asked on $connect, or empty.
	Authorizer string
	// Identity are the sources that a $connect must have to be asked about.
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
