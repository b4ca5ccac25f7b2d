package samtemplate

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// defaultIntegrationTimeout is what HTTP APIs wait where the template says nothing.
const defaultIntegrationTimeout = 30 * time.Second

type routeProperties struct {
	API    string `yaml:"ApiId"`
	Method string `yaml:"Method"`
	Path   string `yaml:"Path"`
	Auth   struct {
		Authorizer string   `yaml:"Authorizer"`
		Scopes     []string `yaml:"AuthorizationScopes"`
	} `yaml:"Auth"`
	PayloadFormat string `yaml:"PayloadFormatVersion"`
	Timeout       int    `yaml:"TimeoutInMillis"`
	RouteSettings any    `yaml:"RouteSettings"`
}

func (r *resolver) buildRoute(what string, node *yaml.Node) (Route, error) {
	var p routeProperties
	if err := decode(node, what, &p); err != nil {
		return Route{}, err
	}
	if p.API == "" {
		return Route{}, at(node, "%s: ApiId must name the HTTP API", what)
	}
	if p.PayloadFormat != "" && p.PayloadFormat != "2.0" {
		return Route{}, at(node, "%s: only payload format 2.0 is supported", what)
	}
	api, err := r.logicalID(node, typeHTTPAPI, p.API)
	if err != nil {
		return Route{}, err
	}
	route := Route{
		API: api, Method: strings.ToUpper(p.Method), Path: p.Path,
		Authorizer: p.Auth.Authorizer, Scopes: p.Auth.Scopes, Timeout: defaultIntegrationTimeout,
	}
	if route.Path == "" { // SAM's way of saying: whatever no other route takes
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
	Expression  string `yaml:"ScheduleExpression"`
	Input       string `yaml:"Input"`
	Enabled     *bool  `yaml:"Enabled"`
	State       string `yaml:"State"`
	Name        any    `yaml:"Name"`
	Description any    `yaml:"Description"`
	Retry       any    `yaml:"RetryPolicy"`
	DeadLetter  any    `yaml:"DeadLetterConfig"`
}

func buildSchedule(what, name string, node *yaml.Node) (Schedule, error) {
	var p scheduleProperties
	if err := decode(node, what, &p); err != nil {
		return Schedule{}, err
	}
	s := Schedule{Name: name, Expression: p.Schedule + p.Expression, Input: p.Input, Enabled: p.State != "DISABLED"}
	if p.Enabled != nil {
		s.Enabled = *p.Enabled
	}
	if s.Expression == "" {
		return s, at(node, "%s: the schedule has no expression", what)
	}
	return s, nil
}
