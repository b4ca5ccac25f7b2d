package samtemplate

import "gopkg.in/yaml.v3"

const (
	typeFunction     = "AWS::Serverless::Function"
	typeTable        = "AWS::DynamoDB::Table"
	typeHTTPAPI      = "AWS::Serverless::HttpApi"
	typeRESTAPI      = "AWS::Serverless::Api"
	typeWebSocketAPI = "AWS::Serverless::WebSocketApi"
	typeQueue        = "AWS::SQS::Queue"

	typeManagedPolicy = "AWS::IAM::ManagedPolicy"
)

// build converts the resources whose conditions are met into typed values.
func build(r *resolver) (*Template, error) {
	t := &Template{}
	for _, id := range r.order {
		entry := r.resources[id]
		wanted, err := r.isIncluded(entry)
		if err != nil {
			return nil, err
		}
		if !wanted {
			continue
		}
		if err := r.add(t, id, entry); err != nil {
			return nil, err
		}
	}
	if err := applyDefaults(r, t); err != nil {
		return nil, err
	}
	return t, checkQueues(r, t)
}

func (r *resolver) isIncluded(entry resource) (bool, error) {
	if entry.condition == "" {
		return true, nil
	}
	return r.holds(text(entry.node, entry.condition))
}

func (r *resolver) add(t *Template, id string, entry resource) error {
	switch entry.typ {
	case typeTable:
		table, err := buildTable(r, id, entry)
		t.Tables = append(t.Tables, table)
		return err
	case typeFunction:
		function, err := buildFunction(r, id, entry)
		t.Functions = append(t.Functions, function)
		return err
	case typeHTTPAPI:
		api, err := buildHTTPAPI(r, id, entry)
		t.HTTPAPIs = append(t.HTTPAPIs, api)
		return err
	case typeRESTAPI:
		api, err := buildRESTAPI(r, id, entry)
		t.RESTAPIs = append(t.RESTAPIs, api)
		return err
	case typeWebSocketAPI:
		api, err := buildWebSocketAPI(r, id, entry)
		t.WebSocketAPIs = append(t.WebSocketAPIs, api)
		return err
	case typeQueue:
		queue, err := buildQueue(r, id, entry)
		t.Queues = append(t.Queues, queue)
		return err
	case typeManagedPolicy: // a policy that no function names must be valid, too
		_, err := buildManagedPolicy(r, id, entry)
		return err
	default:
		return nil
	}
}

// properties decodes a resource's properties, merged over the Globals section.
func (r *resolver) properties(id string, entry resource, global string, target any) error {
	node := entry.properties
	if global != "" {
		node = merge(field(r.globals, global), node)
	}
	if node == nil {
		return nil
	}
	resolved, err := r.eval(node)
	if err != nil {
		return err
	}
	return decode(resolved, id, target)
}

// authorizers are the names that an API's routes may use.
type authorizers struct {
	api      string
	standard string
	jwt      map[string]JWTAuthorizer
	lambda   map[string]LambdaAuthorizer
}

// applyDefaults gives routes without an authorizer the default one of their API.
func applyDefaults(r *resolver, t *Template) error {
	apis := map[string]authorizers{}
	for _, api := range t.HTTPAPIs {
		apis[api.LogicalID] = authorizers{api: api.LogicalID, standard: api.DefaultAuthorizer, jwt: api.JWT}
	}
	for _, api := range t.RESTAPIs {
		apis[api.LogicalID] = authorizers{api: api.LogicalID, standard: api.DefaultAuthorizer, lambda: api.Lambda}
	}
	for i := range t.Functions {
		for j := range t.Functions[i].Routes {
			route := &t.Functions[i].Routes[j]
			if err := apis[route.API].authorize(route, r.resources[t.Functions[i].LogicalID].node); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a authorizers) authorize(route *Route, node *yaml.Node) error {
	switch route.Authorizer {
	case "NONE":
		route.Authorizer = ""
		return nil
	case "":
		route.Authorizer = a.standard
	}
	if route.Authorizer == "" {
		return nil
	}
	_, isJWT := a.jwt[route.Authorizer]
	if _, isLambda := a.lambda[route.Authorizer]; !isJWT && !isLambda {
		return at(node, "route %s %s: API %s has no authorizer %s", route.Method, route.Path, a.api, route.Authorizer)
	}
	return nil
}
