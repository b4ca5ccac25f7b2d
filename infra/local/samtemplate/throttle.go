package samtemplate

import "gopkg.in/yaml.v3"

// routeSettings are the settings of all routes of an HTTP or WebSocket API.
type routeSettings struct {
	Rate  float64 `yaml:"ThrottlingRateLimit"`
	Burst int     `yaml:"ThrottlingBurstLimit"`
}

func (s routeSettings) throttle() Throttle { return Throttle(s) }

// methodSettings are the settings of some methods of a REST API's stage.
type methodSettings struct {
	Path   string  `yaml:"ResourcePath"`
	Method string  `yaml:"HttpMethod"`
	Rate   float64 `yaml:"ThrottlingRateLimit"`
	Burst  int     `yaml:"ThrottlingBurstLimit"`
}

// restThrottle reads the settings of all methods; settings of single methods are
// not supported.
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
