package host

import (
	"encoding/json"
	"net/http"
)

// stackPath is where the stack is described. In the cloud CloudFormation does.
const stackPath = devPrefix + "/stack"

// Stack is the system as CloudFormation would describe it, and where the services
// that it uses answer on this machine.
type Stack struct {
	Outputs    map[string]string `json:"outputs"`
	Parameters map[string]string `json:"parameters"`
	Resources  []StackResource   `json:"resources"`
	Endpoints  StackEndpoints    `json:"endpoints"`
}

// StackResource is one resource of the template.
type StackResource struct {
	LogicalID  string `json:"logical_id"`
	PhysicalID string `json:"physical_id"` // as Ref has it
	Type       string `json:"type"`
}

// StackEndpoints are addresses that AWS's SDKs take in place of the services' own.
type StackEndpoints struct {
	DynamoDB string `json:"dynamodb"` // of its streams too
	Lambda   string `json:"lambda"`
	SQS      string `json:"sqs"`
}

// serveStack tells those who look after the system, on the same machine, where
// its parts are.
func (s *System) serveStack(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		rw.Header().Set("Allow", http.MethodGet)
		rw.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(s.stack()) // a caller that is gone needs no answer
}

func (s *System) stack() Stack {
	out := Stack{
		Outputs:    map[string]string{"ApiUrl": s.URL(), "StreamUrl": s.URL(), "WebSocketUrl": s.WebSocketURL()},
		Parameters: map[string]string{"JwtIssuer": s.URL() + devPrefix},
		Endpoints:  StackEndpoints{DynamoDB: s.database, Lambda: s.LambdaEndpoint(), SQS: s.SQSEndpoint()},
	}
	if s.opts.SignIn.given() {
		out.Parameters["JwtIssuer"] = s.opts.SignIn.Issuer
	}
	if url := s.ConsoleURL(); url != "" {
		out.Outputs["ConsoleUrl"] = url
	}
	for _, f := range s.template.Functions {
		out.Resources = append(out.Resources, StackResource{f.LogicalID, f.Name, "AWS::Lambda::Function"})
	}
	for _, t := range s.template.Tables {
		out.Resources = append(out.Resources, StackResource{t.LogicalID, t.Name, "AWS::DynamoDB::Table"})
	}
	for _, q := range s.template.Queues {
		out.Resources = append(out.Resources, StackResource{q.LogicalID, q.URL, "AWS::SQS::Queue"})
	}
	return out
}
