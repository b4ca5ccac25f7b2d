// Package stackinfo is the description that a local system serves at GET
// /dev/stack, for operators' tools.
package stackinfo

// Stack is the system as CloudFormation would describe it, with the local
// addresses of the services that it uses.
type Stack struct {
	Outputs    map[string]string `json:"outputs"`
	Parameters map[string]string `json:"parameters"`
	Resources  []Resource        `json:"resources"`
	Endpoints  Endpoints         `json:"endpoints"`
}

// Resource is one resource of the template.
type Resource struct {
	LogicalID  string `json:"logical_id"`
	PhysicalID string `json:"physical_id"` // what Ref returns
	Type       string `json:"type"`
	// Invocations is how often a function was invoked since the system started, without
	// those that were refused.
	Invocations int `json:"invocations,omitempty"`
}

// Endpoints are addresses that AWS's SDKs use in place of the services' own.
type Endpoints struct {
	DynamoDB string `json:"dynamodb"` // also serves the table's streams
	// DynamoDBKey is the access key of the system's database in the engine.
	DynamoDBKey string `json:"dynamodb_key"`

	Lambda string `json:"lambda"`
	SQS    string `json:"sqs"`
}
