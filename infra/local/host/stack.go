package host

import (
	"encoding/json"
	"net/http"

	"github.com/rethread/rethread/infra/local/described"
)

// stackPath is where the stack is described. In the cloud CloudFormation does.
const stackPath = devPrefix + "/stack"

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

func (s *System) stack() described.Stack {
	out := described.Stack{
		Outputs:    map[string]string{"ApiUrl": s.URL(), "StreamUrl": s.URL(), "WebSocketUrl": s.WebSocketURL()},
		Parameters: map[string]string{"JwtIssuer": s.URL() + devPrefix},
		Endpoints: described.Endpoints{
			DynamoDB: s.database, DynamoDBKey: s.opts.DynamoDBKey, Lambda: s.LambdaEndpoint(), SQS: s.SQSEndpoint(),
		},
	}
	if s.opts.SignIn.given() {
		out.Parameters["JwtIssuer"] = s.opts.SignIn.Issuer
	}
	if url := s.ConsoleURL(); url != "" {
		out.Outputs["ConsoleUrl"] = url
	}
	for _, f := range s.template.Functions {
		out.Resources = append(out.Resources, described.Resource{LogicalID: f.LogicalID, PhysicalID: f.Name, Type: "AWS::Lambda::Function"})
	}
	for _, t := range s.template.Tables {
		out.Resources = append(out.Resources, described.Resource{LogicalID: t.LogicalID, PhysicalID: t.Name, Type: "AWS::DynamoDB::Table"})
	}
	for _, q := range s.template.Queues {
		out.Resources = append(out.Resources, described.Resource{LogicalID: q.LogicalID, PhysicalID: q.URL, Type: "AWS::SQS::Queue"})
	}
	return out
}
