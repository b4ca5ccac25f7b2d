package host

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/local/table"
)

// localize replaces the cloud addresses of gateways by their local ones, so that
// functions need not know where they run. It is called for the environments of functions and
// for the variables of stages, which events carry. A value is replaced only if all of it is
// such an address: https://<api>.execute-api.<region>.<suffix>, optionally with a
// stage and a path.
func (s *System) localize(values map[string]string) map[string]string {
	here := s.gateways()
	out := maps.Clone(values)
	for name, value := range values {
		address, err := url.Parse(value)
		if err != nil {
			continue
		}
		id, rest, _ := strings.Cut(address.Host, ".")
		gate, ok := here[id]
		if !ok || !strings.HasPrefix(rest, "execute-api."+table.Region+".") || !slices.Contains([]string{"https", "wss"}, address.Scheme) {
			continue
		}
		address.Scheme = map[string]string{"https": "http", "wss": "ws"}[address.Scheme]
		address.Host = gate.address
		if first, after, _ := strings.Cut(strings.TrimPrefix(address.Path, "/"), "/"); first == gate.stage {
			address.Path = strings.TrimSuffix("/"+after, "/")
		}
		out[name] = address.String()
	}
	return out
}

// localGateway is the local address of a gateway, and the stage that its cloud address
// ends with.
type localGateway struct{ address, stage string }

// gateways are keyed by API id, which locally is the logical id.
func (s *System) gateways() map[string]localGateway {
	gates := map[string]localGateway{}
	for _, api := range s.template.HTTPAPIs {
		gates[api.LogicalID] = localGateway{s.address, api.Stage}
	}
	for _, api := range s.template.RESTAPIs {
		gates[api.LogicalID] = localGateway{s.address, api.Stage}
	}
	for _, api := range s.template.WebSocketAPIs {
		gates[api.LogicalID] = localGateway{s.sockets.address, api.Stage}
	}
	return gates
}
