// Package described is how a system on this machine describes itself to those who
// look after it, at GET /dev/stack.
package described

// Stack is the system as CloudFormation would describe it, and where the services
// that it uses answer on this machine.
type Stack struct {
	Outputs    map[string]string `json:"outputs"`
	Parameters map[string]string `json:"parameters"`
	Resources  []Resource        `json:"resources"`
	Endpoints  Endpoints         `json:"endpoints"`
}

// Resource is one resource of the template.
type Resource struct {
	LogicalID  string `json:"logical_id"`
	PhysicalID string `json:"physical_id"` // as Ref has it
	Type       string `json:"type"`
}

// Endpoints are addresses that AWS's SDKs take in place of the services' own.
type Endpoints struct {
	DynamoDB string `json:"dynamodb"` // of its streams too
	// DynamoDBKey is the access key of the system's database there.
	DynamoDBKey string `json:"dynamodb_key"`

	Lambda string `json:"lambda"`
	SQS    string `json:"sqs"`
}
