package samtemplate

type webSocketProperties struct {
	StageName      string `yaml:"StageName"`
	RouteSelection string `yaml:"RouteSelectionExpression"`
	Routes         map[string]struct {
		FunctionArn string `yaml:"FunctionArn"`
		Timeout     any    `yaml:"IntegrationTimeout"`
	} `yaml:"Routes"`
	Auth struct {
		Arn      string   `yaml:"AuthArn"`
		Type     string   `yaml:"AuthType"`
		Identity []string `yaml:"IdentitySource"`
		Name     any      `yaml:"Name"`
	} `yaml:"Auth"`

	Name                 any `yaml:"Name"`
	Description          any `yaml:"Description"`
	AccessLogSettings    any `yaml:"AccessLogSettings"`
	DefaultRouteSettings any `yaml:"DefaultRouteSettings"`
	RouteSettings        any `yaml:"RouteSettings"`
	PropagateTags        any `yaml:"PropagateTags"`
	Tags                 any `yaml:"Tags"`
}

func buildWebSocketAPI(r *resolver, id string, entry resource) (WebSocketAPI, error) {
	api := WebSocketAPI{LogicalID: id, Routes: map[string]string{}}
	var p webSocketProperties
	if err := r.properties(id, entry, "WebSocketApi", &p); err != nil {
		return api, err
	}
	api.Stage, api.RouteSelection, api.Identity = p.StageName, p.RouteSelection, p.Auth.Identity
	if api.Stage == "" {
		api.Stage = "default"
	}
	for key, route := range p.Routes {
		function, err := r.logicalID(entry.node, typeFunction, route.FunctionArn)
		if err != nil {
			return api, err
		}
		api.Routes[key] = function
	}
	if p.Auth.Arn != "" {
		authorizer, err := r.logicalID(entry.node, typeFunction, p.Auth.Arn)
		if err != nil {
			return api, err
		}
		api.Authorizer = authorizer
	}
	return api, nil
}
