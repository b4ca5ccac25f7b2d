package samtemplate

import "gopkg.in/yaml.v3"

// routeSettings are what HTTP and WebSocket APIs say of all their routes.
type routeSettings struct {
	Rate  float64 `yaml:"ThrottlingRateLimit"`
	Burst int     `yaml:"ThrottlingBurstLimit"`
}

func (s routeSettings) throttle() Throttle { return Throttle(s) }

// methodSettings are what a REST API's stage says of some of its methods.
type methodSettings struct {
	Path   string  `yaml:"ResourcePath"`
	Method string  `yaml:"HttpMethod"`
	Rate   float64 `yaml:"ThrottlingRateLimit"`
	Burst  int     `yaml:"ThrottlingBurstLimit"`
}

// restThrottle reads what holds for all methods; settings of single ones are not
// supported.
func restThrottle(id string, node *yaml.Node, all []methodSettings) (Throttle, error) {
	var out Throttle
	for _, s := range all {
		if s.Path != "/*" || s.Method != "*" {
			return out, at(node, "REST API %s: MethodSettings other than those of /* and * are not supported", id)
		}
		out = Throttle{Rate: s.Rate, Burst: s.Burst}
	}
	return out, nil
}
