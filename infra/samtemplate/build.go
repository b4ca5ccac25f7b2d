package samtemplate

import "gopkg.in/yaml.v3"

const (
	typeFunction     = "AWS::Serverless::Function"
	typeTable        = "AWS::DynamoDB::Table"
	typeHTTPAPI      = "AWS::Serverless::HttpApi"
	typeWebSocketAPI = "AWS::Serverless::WebSocketApi"
)

// build turns the resources whose conditions hold into typed values.
func build(r *resolver) (*Template, error) {
	t := &Template{}
	for _, id := range r.order {
		entry := r.resources[id]
		wanted, err := r.wanted(entry)
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
	return t, applyDefaults(r, t)
}

func (r *resolver) wanted(entry resource) (bool, error) {
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
	case typeWebSocketAPI:
		api, err := buildWebSocketAPI(r, id, entry)
		t.WebSocketAPIs = append(t.WebSocketAPIs, api)
		return err
	default:
		return nil
	}
}

// properties decodes a resource's properties, laid over the Globals section.
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

// applyDefaults gives routes the authorizer of their API where they name none.
func applyDefaults(r *resolver, t *Template) error {
	apis := map[string]HTTPAPI{}
	for _, api := range t.HTTPAPIs {
		apis[api.LogicalID] = api
	}
	for i := range t.Functions {
		for j := range t.Functions[i].Routes {
			route := &t.Functions[i].Routes[j]
			if err := authorize(route, apis[route.API], r.resources[t.Functions[i].LogicalID].node); err != nil {
				return err
			}
		}
	}
	return nil
}

func authorize(route *Route, api HTTPAPI, node *yaml.Node) error {
	switch route.Authorizer {
	case "NONE":
		route.Authorizer = ""
		return nil
	case "":
		route.Authorizer = api.DefaultAuthorizer
	}
	if route.Authorizer == "" {
		return nil
	}
	jwt, isJWT := api.JWT[route.Authorizer]
	if _, isLambda := api.Lambda[route.Authorizer]; !isJWT && !isLambda {
		return at(node, "route %s %s: API %s has no authorizer %s", route.Method, route.Path, api.LogicalID, route.Authorizer)
	}
	if route.Scopes == nil {
		route.Scopes = jwt.Scopes
	}
	return nil
}
