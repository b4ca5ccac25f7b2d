// Package deployment finds a deployed system, in the cloud by the name of its
// stack or on this machine by its address, and says what it consists of and how
// to reach the services that it uses.
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

// ErrNotFound says that there is no such stack, or that no system answers at the
// address.
var ErrNotFound = errors.New("no such system")

// The types of resources, as CloudFormation names them.
const (
	Alarm    = "AWS::CloudWatch::Alarm"
	Function = "AWS::Lambda::Function"
	Queue    = "AWS::SQS::Queue"
	Table    = "AWS::DynamoDB::Table"
)

// Place says where a system is to be found.
type Place struct {
	// Stack is the name of its stack; empty means the system at URL.
	Stack string
	// URL and Sockets are the addresses of its HTTP API and its WebSocket API.
	// Those of a stack are its outputs.
	URL, Sockets string
}

// Deployment is a system that was found.
type Deployment struct {
	Name string // for people
	// Local says that it runs on this machine, where some services are missing.
	Local bool
	// Outputs and Parameters are the stack's, by name.
	Outputs, Parameters map[string]string
	// Services are nil for a system of which nothing but its address is known.
	Services *Services

	resources map[string]map[string]string // physical ids by logical ones, by type
}

// Services are clients of what the system uses.
type Services struct {
	DynamoDB   *dynamodb.Client
	Streams    *dynamodbstreams.Client
	Lambda     *lambda.Client
	SQS        *sqs.Client
	CloudWatch *cloudwatch.Client // nil on this machine
}

// Find looks the system up. ErrNotFound where there is none.
func Find(ctx context.Context, at Place) (*Deployment, error) {
	if at.Stack != "" {
		return findStack(ctx, at.Stack)
	}
	return findHere(ctx, at)
}

// Resources lists the logical ids of a type, in order.
func (d *Deployment) Resources(kind string) []string {
	return slices.Sorted(maps.Keys(d.resources[kind]))
}

// Resource is the physical id of a resource, as the template's Ref has it: a
// name or, of a queue, its URL. It is empty for one that is not there.
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

// Add makes a resource known.
func (d *Deployment) Add(kind, logicalID, physicalID string) {
	if d.resources == nil {
		d.resources = map[string]map[string]string{}
	}
	if d.resources[kind] == nil {
		d.resources[kind] = map[string]string{}
	}
	d.resources[kind][logicalID] = physicalID
}
