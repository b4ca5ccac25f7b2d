package samtemplate

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// defaultIntegrationTimeout is the default timeout of an HTTP API.
const defaultIntegrationTimeout = 30 * time.Second

type routeProperties struct {
	API    string `yaml:"ApiId"`
	Method string `yaml:"Method"`
	Path   string `yaml:"Path"`
	Auth   struct {
		Authorizer string `yaml:"Authorizer"`
	} `yaml:"Auth"`
	Timeout int `yaml:"TimeoutInMillis"`
}

func (r *resolver) buildRoute(what string, node *yaml.Node) (Route, error) {
	var p routeProperties
	if err := decode(node, what, &p); err != nil {
		return Route{}, err
	}
	if p.API == "" {
		return Route{}, at(node, "%s: ApiId must name the HTTP API", what)
	}
	api, err := r.logicalID(node, typeHTTPAPI, p.API)
	if err != nil {
		return Route{}, err
	}
	route := Route{
		API: api, Method: strings.ToUpper(p.Method), Path: p.Path,
		Authorizer: p.Auth.Authorizer, Timeout: defaultIntegrationTimeout,
	}
	if route.Path == "" { // in SAM, a route without a path is the default route
		route.Path = "$default"
	}
	if route.Method == "" || route.Method == "X-AMAZON-APIGATEWAY-ANY-METHOD" {
		route.Method = "ANY"
	}
	if p.Timeout != 0 {
		route.Timeout = time.Duration(p.Timeout) * time.Millisecond
	}
	return route, nil
}

type scheduleProperties struct {
	Schedule    string `yaml:"Schedule"`
	Enabled     *bool  `yaml:"Enabled"`
	Description any    `yaml:"Description"`
}

func buildSchedule(what, name string, node *yaml.Node) (Schedule, error) {
	var p scheduleProperties
	if err := decode(node, what, &p); err != nil {
		return Schedule{}, err
	}
	s := Schedule{Name: name, Expression: p.Schedule, Enabled: p.Enabled == nil || *p.Enabled}
	if s.Expression == "" {
		return s, at(node, "%s: the schedule has no expression", what)
	}
	return s, nil
}
