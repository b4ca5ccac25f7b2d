package host

import (
	"encoding/json"
	"net/http"

	"github.com/rethread/rethread/infra/local/stackinfo"
)

// stackPath serves the description of the stack. In the cloud, CloudFormation
// describes it.
const stackPath = devPrefix + "/stack"

// serveStack describes the local system to operators' tools.
func (s *System) serveStack(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		rw.Header().Set("Allow", http.MethodGet)
		rw.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(s.stack()) // the caller may have disconnected
}

func (s *System) stack() stackinfo.Stack {
	out := stackinfo.Stack{
		Outputs:    map[string]string{"ApiUrl": s.URL(), "StreamUrl": s.URL(), "WebSocketUrl": s.WebSocketURL()},
		Parameters: map[string]string{"JwtIssuer": s.URL() + devPrefix},
		Endpoints: stackinfo.Endpoints{
			DynamoDB: s.database, DynamoDBKey: s.opts.DynamoDBKey, Lambda: s.LambdaEndpoint(), SQS: s.SQSEndpoint(),
		},
	}
	if s.opts.SignIn.configured() {
		out.Parameters["JwtIssuer"] = s.opts.SignIn.Issuer
	}
	if url := s.ConsoleURL(); url != "" {
		out.Outputs["ConsoleUrl"] = url
	}
	for _, f := range s.template.Functions {
		out.Resources = append(out.Resources, stackinfo.Resource{
			LogicalID: f.LogicalID, PhysicalID: f.Name, Type: "AWS::Lambda::Function", Invocations: s.lambdas.Invocations(f.LogicalID),
		})
	}
	for _, t := range s.template.Tables {
		out.Resources = append(out.Resources, stackinfo.Resource{LogicalID: t.LogicalID, PhysicalID: t.Name, Type: "AWS::DynamoDB::Table"})
	}
	for _, q := range s.template.Queues {
		out.Resources = append(out.Resources, stackinfo.Resource{LogicalID: q.LogicalID, PhysicalID: q.URL, Type: "AWS::SQS::Queue"})
	}
	return out
}
