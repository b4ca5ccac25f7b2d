package host

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/local/table"
)

// localize replaces the addresses that gateways have in the cloud by those of
// this machine, so that functions need not know where they run. A value counts
// as one when the whole of it is: https://<api>.execute-api.<region>.<suffix>,
// with or without a stage and what follows it.
func (s *System) localize(environment map[string]string) map[string]string {
	here := s.gateways()
	out := maps.Clone(environment)
	for name, value := range environment {
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

// gate is where a gateway answers here, and the stage that its address in the
// cloud ends with.
type gate struct{ address, stage string }

// gateways are by the ids of their APIs, which here are logical ids.
func (s *System) gateways() map[string]gate {
	gates := map[string]gate{}
	for _, api := range s.template.HTTPAPIs {
		gates[api.LogicalID] = gate{s.address, api.Stage}
	}
	for _, api := range s.template.RESTAPIs {
		gates[api.LogicalID] = gate{s.address, api.Stage}
	}
	for _, api := range s.template.WebSocketAPIs {
		gates[api.LogicalID] = gate{s.sockets.address, api.Stage}
	}
	return gates
}
