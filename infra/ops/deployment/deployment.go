// Package deployment finds a deployed system, in the cloud by the name of its
// stack or locally by its address, and returns its resources and clients of the
// services that it uses.
package deployment

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// ErrNotFound means that the stack does not exist, or that no system answers at
// the address.
var ErrNotFound = errors.New("no such system")

// CloudFormation's resource types.
const (
	Alarm        = "AWS::CloudWatch::Alarm"
	Function     = "AWS::Lambda::Function"
	MetricFilter = "AWS::Logs::MetricFilter"
	Queue        = "AWS::SQS::Queue"
	Table        = "AWS::DynamoDB::Table"
)

// Location identifies a system.
type Location struct {
	// Stack is the name of the stack; empty means the system at URL.
	Stack string
	// URL and Sockets are the addresses of the HTTP API and the WebSocket API. For a
	// stack they are read from its outputs.
	URL, Sockets string
}

// Deployment is a system that was found.
type Deployment struct {
	Name string // for people
	// Local means that the system runs on this machine, where some services are
	// missing.
	Local bool
	// Outputs and Parameters are the stack's, by name.
	Outputs, Parameters map[string]string
	// Services are nil if only the system's address is known.
	Services *Services

	resources map[string]map[string]string // physical ids by logical ones, by type
}

// Services are clients of the services that the system uses.
type Services struct {
	DynamoDB   *dynamodb.Client
	Streams    *dynamodbstreams.Client
	Lambda     *lambda.Client
	SQS        *sqs.Client
	CloudWatch *cloudwatch.Client // nil for a local system
}

// Find looks the system up. The error is ErrNotFound if there is none.
func Find(ctx context.Context, at Location) (*Deployment, error) {
	if at.Stack != "" {
		return findStack(ctx, at.Stack)
	}
	return findLocal(ctx, at)
}

// Resources lists the logical ids of a type, in order.
func (d *Deployment) Resources(kind string) []string {
	return slices.Sorted(maps.Keys(d.resources[kind]))
}

// Resource is the physical id of a resource, as returned by the template's Ref: a
// name or, for a queue, its URL. It is empty for an unknown resource.
func (d *Deployment) Resource(kind, logicalID string) string { return d.resources[kind][logicalID] }

// LogicalID finds a resource by its physical id.
func (d *Deployment) LogicalID(kind, physicalID string) (string, bool) {
	for logical, physical := range d.resources[kind] {
		if physical == physicalID {
			return logical, true
		}
	}
	return "", false
}

// Add adds a resource.
func (d *Deployment) Add(kind, logicalID, physicalID string) {
	if d.resources == nil {
		d.resources = map[string]map[string]string{}
	}
	if d.resources[kind] == nil {
		d.resources[kind] = map[string]string{}
	}
	d.resources[kind][logicalID] = physicalID
}
