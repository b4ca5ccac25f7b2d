package samtemplate

import (
	"time"

	"gopkg.in/yaml.v3"
)

const (
	defaultIdentitySource = "$request.header.Authorization"
	defaultStage          = "$default"
)

type httpAPIProperties struct {
	Name      string    `yaml:"Name"`
	StageName string    `yaml:"StageName"`
	CORS      yaml.Node `yaml:"CorsConfiguration"`
	Auth      struct {
		Default     string                          `yaml:"DefaultAuthorizer"`
		Authorizers map[string]authorizerProperties `yaml:"Authorizers"`
	} `yaml:"Auth"`

	DefaultRouteSettings routeSettings `yaml:"DefaultRouteSettings"`

	AccessLogSettings         any `yaml:"AccessLogSettings"`
	Description               any `yaml:"Description"`
	DisableExecuteAPIEndpoint any `yaml:"DisableExecuteApiEndpoint"`
	FailOnWarnings            any `yaml:"FailOnWarnings"`
	PropagateTags             any `yaml:"PropagateTags"`
	RouteSettings             any `yaml:"RouteSettings"`
	Tags                      any `yaml:"Tags"`
}

type authorizerProperties struct {
	JWT *struct {
		Issuer   string   `yaml:"issuer"`
		Audience []string `yaml:"audience"`
	} `yaml:"JwtConfiguration"`
	IdentitySource  string   `yaml:"IdentitySource"`
	Scopes          []string `yaml:"AuthorizationScopes"`
	FunctionArn     string   `yaml:"FunctionArn"`
	PayloadFormat   string   `yaml:"AuthorizerPayloadFormatVersion"`
	SimpleResponses bool     `yaml:"EnableSimpleResponses"`
	Permissions     any      `yaml:"EnableFunctionDefaultPermissions"`
	InvokeRole      any      `yaml:"FunctionInvokeRole"`
	Identity        struct {
		Headers     []string `yaml:"Headers"`
		QueryString []string `yaml:"QueryStrings"`
		TTL         int      `yaml:"ReauthorizeEvery"`
	} `yaml:"Identity"`
}

func buildHTTPAPI(r *resolver, id string, entry resource) (HTTPAPI, error) {
	api := HTTPAPI{
		LogicalID: id, Name: id, Stage: defaultStage,
		JWT: map[string]JWTAuthorizer{}, Lambda: map[string]LambdaAuthorizer{},
	}
	var p httpAPIProperties
	if err := r.properties(id, entry, "HttpApi", &p); err != nil {
		return api, err
	}
	if p.Name != "" {
		api.Name = p.Name
	}
	if p.StageName != "" {
		api.Stage = p.StageName
	}
	cors, err := buildCORS(id, &p.CORS)
	if err != nil {
		return api, err
	}
	api.CORS, api.DefaultAuthorizer, api.Throttle = cors, p.Auth.Default, p.DefaultRouteSettings.throttle()
	for name, a := range p.Auth.Authorizers {
		if err := r.addAuthorizer(&api, entry.node, name, a); err != nil {
			return api, err
		}
	}
	return api, nil
}

func (r *resolver) addAuthorizer(api *HTTPAPI, node *yaml.Node, name string, a authorizerProperties) error {
	switch {
	case a.JWT != nil:
		source := a.IdentitySource
		if source == "" {
			source = defaultIdentitySource
		}
		api.JWT[name] = JWTAuthorizer{
			Issuer: a.JWT.Issuer, Audience: a.JWT.Audience, IdentitySource: source, Scopes: a.Scopes,
		}
		return nil
	case a.FunctionArn != "":
		function, err := r.logicalID(node, typeFunction, a.FunctionArn)
		if err != nil {
			return err
		}
		identity := prefixed("$request.header.", a.Identity.Headers)
		identity = append(identity, prefixed("$request.querystring.", a.Identity.QueryString)...)
		api.Lambda[name] = LambdaAuthorizer{
			Function: function, SimpleResponses: a.SimpleResponses, Identity: identity,
			TTL: time.Duration(a.Identity.TTL) * time.Second,
		}
		return nil
	default:
		return at(node, "authorizer %s is neither JWT nor Lambda", name)
	}
}

func prefixed(prefix string, names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, prefix+name)
	}
	return out
}

type corsProperties struct {
	Origins     []string `yaml:"AllowOrigins"`
	Methods     []string `yaml:"AllowMethods"`
	Headers     []string `yaml:"AllowHeaders"`
	Expose      []string `yaml:"ExposeHeaders"`
	Credentials bool     `yaml:"AllowCredentials"`
	MaxAge      int      `yaml:"MaxAge"`
}

func (p *corsProperties) build() *CORS {
	if p == nil {
		return nil
	}
	return &CORS{
		AllowOrigins: p.Origins, AllowMethods: p.Methods, AllowHeaders: p.Headers,
		ExposeHeaders: p.Expose, AllowCredentials: p.Credentials, MaxAge: p.MaxAge,
	}
}

// buildCORS reads the configuration; SAM takes true to mean any origin.
func buildCORS(id string, node *yaml.Node) (*CORS, error) {
	switch {
	case node.IsZero(), node.Kind == yaml.ScalarNode && node.Value == "false":
		return nil, nil // no configuration is a configuration
	case node.Kind == yaml.ScalarNode && node.Value == "true":
		return &CORS{AllowOrigins: []string{"*"}}, nil
	}
	var p corsProperties
	if err := decode(node, id+".CorsConfiguration", &p); err != nil {
		return nil, err
	}
	return p.build(), nil
}
