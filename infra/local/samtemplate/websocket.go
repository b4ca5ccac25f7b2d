package samtemplate

import (
	"time"

	"gopkg.in/yaml.v3"
)

// webSocketTimeout is how long a WebSocket API waits for a function.
const webSocketTimeout = 29 * time.Second

// webSocketProperties lacks RouteResponseSelectionExpression on purpose: answers
// of functions are not sent to clients, which only receive what is posted to their
// connections.
type webSocketProperties struct {
	StageName      string                              `yaml:"StageName"`
	RouteSelection string                              `yaml:"RouteSelectionExpression"`
	Routes         map[string]webSocketRouteProperties `yaml:"Routes"`
	Auth           struct {
		Arn      string   `yaml:"AuthArn"`
		Type     string   `yaml:"AuthType"`
		Identity []string `yaml:"IdentitySource"`
		Name     any      `yaml:"Name"`
	} `yaml:"Auth"`

	DefaultRouteSettings routeSettings `yaml:"DefaultRouteSettings"`

	Name              any `yaml:"Name"`
	Description       any `yaml:"Description"`
	AccessLogSettings any `yaml:"AccessLogSettings"`
	Tags              any `yaml:"Tags"`
}

type webSocketRouteProperties struct {
	FunctionArn string `yaml:"FunctionArn"`
}

func buildWebSocketAPI(r *resolver, id string, entry resource) (WebSocketAPI, error) {
	api := WebSocketAPI{LogicalID: id, Routes: map[string]WebSocketRoute{}}
	var p webSocketProperties
	if err := r.properties(id, entry, "WebSocketApi", &p); err != nil {
		return api, err
	}
	api.Stage, api.RouteSelection, api.Identity = p.StageName, p.RouteSelection, p.Auth.Identity
	api.Throttle = p.DefaultRouteSettings.throttle()
	if api.Stage == "" {
		api.Stage = "default"
	}
	for key, properties := range p.Routes {
		route, err := r.buildWebSocketRoute(entry.node, properties)
		if err != nil {
			return api, err
		}
		api.Routes[key] = route
	}
	switch {
	case p.Auth.Type == "", p.Auth.Type == "NONE":
		return api, nil
	case p.Auth.Type != "CUSTOM":
		return api, at(entry.node, "WebSocket API %s: AuthType %s is not supported", id, p.Auth.Type)
	}
	authorizer, err := r.logicalID(entry.node, typeFunction, p.Auth.Arn)
	api.Authorizer = authorizer
	return api, err
}

func (r *resolver) buildWebSocketRoute(node *yaml.Node, p webSocketRouteProperties) (WebSocketRoute, error) {
	function, err := r.logicalID(node, typeFunction, p.FunctionArn)
	if err != nil {
		return WebSocketRoute{}, err
	}
	return WebSocketRoute{Function: function, Timeout: webSocketTimeout}, nil
}
