package iam

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Service names in request signatures.
const (
	dynamodb    = "dynamodb"
	lambda      = "lambda"
	connections = "execute-api"
	sqs         = "sqs"
	events      = "events"
	parameters  = "ssm"
)

// call is an action that a permission must allow; a request may need several.
type call struct {
	action, resource string
	keys             []string // partition keys in a request to a table
}

// calls returns the actions that a request needs. An unknown request needs an
// action that no policy allows.
func (g *Guard) calls(service string, r *http.Request, body []byte) []call {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var calls []call
	switch service {
	case dynamodb:
		calls = g.tableCalls(operation, body)
	case lambda:
		calls = g.functionCalls(r.URL.Path)
	case connections:
		calls = g.connectionCalls(r)
	case sqs:
		calls = g.queueCalls(operation, body)
	case events:
		calls = g.eventCalls(operation, body)
	case parameters:
		calls = g.parameterCalls(operation, body)
	}
	if calls == nil {
		calls = []call{{action: service + ":" + operation, resource: "*"}}
	}
	return calls
}

// functionCalls handles Lambda's Invoke API, by its path.
func (g *Guard) functionCalls(path string) []call {
	_, rest, _ := strings.Cut(path, "/functions/")
	name, ok := strings.CutSuffix(rest, "/invocations")
	if !ok {
		return nil
	}
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	if !strings.HasPrefix(name, "arn:") {
		name = g.arn(lambda, "function:"+name)
	}
	return []call{{action: "lambda:InvokeFunction", resource: name}}
}

// connectionCalls handles the @connections API, which is below the stage or, at a
// local gateway, at the root.
func (g *Guard) connectionCalls(r *http.Request) []call {
	_, id, ok := strings.Cut(r.URL.Path, "/@connections/")
	if !ok || len(g.opts.WebSocketAPIs) != 1 {
		return nil
	}
	api := g.opts.WebSocketAPIs[0]
	return []call{{
		action:   "execute-api:ManageConnections",
		resource: g.arn(connections, api.LogicalID+"/"+api.Stage+"/"+r.Method+"/@connections/"+id),
	}}
}

// queueCalls handles SQS. IAM has no actions for its batches.
func (g *Guard) queueCalls(operation string, body []byte) []call {
	var in struct {
		QueueURL string `json:"QueueUrl"`
	}
	if json.Unmarshal(body, &in) != nil || in.QueueURL == "" {
		return nil
	}
	name := in.QueueURL[strings.LastIndex(in.QueueURL, "/")+1:]
	return []call{{action: sqs + ":" + strings.TrimSuffix(operation, "Batch"), resource: g.arn(sqs, name)}}
}

// eventCalls requires a permission for each event bus in the entries.
func (g *Guard) eventCalls(operation string, body []byte) []call {
	var in struct {
		Entries []struct{ EventBusName string }
	}
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	var calls []call
	for _, e := range in.Entries {
		name := e.EventBusName
		if name == "" {
			name = "default"
		}
		if !strings.HasPrefix(name, "arn:") {
			name = g.arn(events, "event-bus/"+name)
		}
		if c := (call{action: events + ":" + operation, resource: name}); !slices.ContainsFunc(calls, c.same) {
			calls = append(calls, c)
		}
	}
	return calls
}

// parameterCalls requires a permission for each named parameter.
func (g *Guard) parameterCalls(operation string, body []byte) []call {
	var in struct{ Names []string }
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	var calls []call
	for _, name := range in.Names {
		calls = append(calls, call{action: parameters + ":" + operation, resource: g.arn(parameters, "parameter/"+strings.TrimPrefix(name, "/"))})
	}
	return calls
}

func (c call) same(other call) bool { return c.action == other.action && c.resource == other.resource }

func (g *Guard) arn(service, rest string) string {
	return "arn:aws:" + service + ":" + g.opts.Region + ":" + g.opts.Account + ":" + rest
}
