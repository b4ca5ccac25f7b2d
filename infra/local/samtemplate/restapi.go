package samtemplate

import (
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Defaults of REST APIs, and the limit of a streamed answer's time.
const (
	defaultRESTTimeout = 29 * time.Second
	maxStreamTimeout   = 15 * time.Minute
)

type restAPIProperties struct {
	StageName string              `yaml:"StageName"`
	CORS      *restCORSProperties `yaml:"Cors"`
	Auth      struct {
		Default     string                              `yaml:"DefaultAuthorizer"`
		OnPreflight *bool                               `yaml:"AddDefaultAuthorizerToCorsPreflight"`
		Authorizers map[string]restAuthorizerProperties `yaml:"Authorizers"`
	} `yaml:"Auth"`
	GatewayResponses map[string]struct {
		Status     int `yaml:"StatusCode"`
		Parameters struct {
			Headers map[string]string `yaml:"Headers"`
		} `yaml:"ResponseParameters"`
		Templates map[string]string `yaml:"ResponseTemplates"`
	} `yaml:"GatewayResponses"`

	MethodSettings []methodSettings  `yaml:"MethodSettings"`
	Variables      map[string]string `yaml:"Variables"`

	AccessLogSetting      any `yaml:"AccessLogSetting"`
	Description           any `yaml:"Description"`
	EndpointConfiguration any `yaml:"EndpointConfiguration"`
	Name                  any `yaml:"Name"`
	OpenAPIVersion        any `yaml:"OpenApiVersion"`
	Tags                  any `yaml:"Tags"`
	TracingEnabled        any `yaml:"TracingEnabled"`
}

// gatewayErrors returns the types of a REST API's errors that the local gateway makes.
func gatewayErrors() []string {
	return []string{
		"DEFAULT_4XX", "DEFAULT_5XX", "UNAUTHORIZED", "ACCESS_DENIED", "MISSING_AUTHENTICATION_TOKEN", "REQUEST_TOO_LARGE",
		"THROTTLED", "INTEGRATION_TIMEOUT",
	}
}

type restAuthorizerProperties struct {
	FunctionArn string `yaml:"FunctionArn"`
	PayloadType string `yaml:"FunctionPayloadType"`
	Identity    struct {
		TTL *int `yaml:"ReauthorizeEvery"`
	} `yaml:"Identity"`
}

func buildRESTAPI(r *resolver, id string, entry resource) (RESTAPI, error) {
	api := RESTAPI{LogicalID: id, Lambda: map[string]LambdaAuthorizer{}, Errors: map[string]GatewayError{}}
	var p restAPIProperties
	if err := r.properties(id, entry, "Api", &p); err != nil {
		return api, err
	}
	api.Stage, api.Variables, api.DefaultAuthorizer = p.StageName, p.Variables, p.Auth.Default
	var err error
	if api.Throttle, err = restThrottle(id, entry.node, p.MethodSettings); err != nil {
		return api, err
	}
	for name, properties := range p.Auth.Authorizers {
		authorizer, err := r.buildRESTAuthorizer(entry.node, name, properties)
		if err != nil {
			return api, err
		}
		api.Lambda[name] = authorizer
	}
	for kind, response := range p.GatewayResponses {
		if !slices.Contains(gatewayErrors(), kind) {
			return api, at(entry.node, "REST API %s: gateway response %s is not supported", id, kind)
		}
		configured := GatewayError{Status: response.Status, Headers: map[string]string{}}
		for name, value := range response.Parameters.Headers {
			configured.Headers[name] = unquote(value)
		}
		for mediaType, body := range response.Templates {
			if mediaType != "application/json" {
				return api, at(entry.node, "REST API %s: a gateway response of the type %s is not supported", id, mediaType)
			}
			configured.Body = body
		}
		api.Errors[kind] = configured
	}
	if p.CORS != nil && p.Auth.Default != "" && (p.Auth.OnPreflight == nil || *p.Auth.OnPreflight) {
		return api, at(entry.node, "REST API %s: without AddDefaultAuthorizerToCorsPreflight: false "+
			"preflight requests would need a token, which browsers never send", id)
	}
	api.CORS = p.CORS.build()
	return api, nil
}

func (r *resolver) buildRESTAuthorizer(node *yaml.Node, name string, p restAuthorizerProperties) (LambdaAuthorizer, error) {
	if p.PayloadType != "REQUEST" {
		return LambdaAuthorizer{}, at(node, "authorizer %s: only FunctionPayloadType REQUEST is supported", name)
	}
	function, err := r.logicalID(node, typeFunction, p.FunctionArn)
	if err != nil {
		return LambdaAuthorizer{}, err
	}
	if p.Identity.TTL == nil || *p.Identity.TTL != 0 {
		return LambdaAuthorizer{}, at(node, "authorizer %s: without a source under Identity, ReauthorizeEvery must be 0", name)
	}
	return LambdaAuthorizer{Function: function}, nil
}

type restCORSProperties struct {
	Origin  string `yaml:"AllowOrigin"`
	Methods string `yaml:"AllowMethods"`
	Headers string `yaml:"AllowHeaders"`
	MaxAge  string `yaml:"MaxAge"`
}

func (p *restCORSProperties) build() *RESTCORS {
	if p == nil {
		return nil
	}
	return &RESTCORS{
		AllowOrigin: unquote(p.Origin), AllowMethods: unquote(p.Methods), AllowHeaders: unquote(p.Headers),
		MaxAge: unquote(p.MaxAge),
	}
}

// unquote removes the quotes of an API Gateway literal: '*'.
func unquote(literal string) string { return strings.Trim(literal, "'") }

type restRouteProperties struct {
	API    string `yaml:"RestApiId"`
	Method string `yaml:"Method"`
	Path   string `yaml:"Path"`
	Auth   struct {
		Authorizer string `yaml:"Authorizer"`
	} `yaml:"Auth"`
	Timeout      int    `yaml:"TimeoutInMillis"`
	TransferMode string `yaml:"ResponseTransferMode"`
}

func (r *resolver) buildRESTRoute(what string, node *yaml.Node) (Route, error) {
	var p restRouteProperties
	if err := decode(node, what, &p); err != nil {
		return Route{}, err
	}
	if p.API == "" || p.Path == "" || p.Method == "" {
		return Route{}, at(node, "%s: RestApiId, Method and Path are required", what)
	}
	api, err := r.logicalID(node, typeRESTAPI, p.API)
	if err != nil {
		return Route{}, err
	}
	route := Route{
		API: api, Method: strings.ToUpper(p.Method), Path: p.Path, Authorizer: p.Auth.Authorizer, Timeout: defaultRESTTimeout,
	}
	if p.Timeout != 0 {
		route.Timeout = time.Duration(p.Timeout) * time.Millisecond
	}
	switch {
	case p.TransferMode != "RESPONSE_STREAM":
		return Route{}, at(node, "%s: ResponseTransferMode %q is not supported, only RESPONSE_STREAM", what, p.TransferMode)
	case route.Timeout > maxStreamTimeout:
		return Route{}, at(node, "%s: TimeoutInMillis is above the limit of a REST API", what)
	}
	return route, nil
}
