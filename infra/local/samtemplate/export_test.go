package samtemplate

import (
	"maps"
	"slices"
)

// Properties are zero values of all types into which the template's properties are
// decoded.
func Properties() []any {
	return []any{
		functionProperties{},
		httpAPIProperties{},
		restAPIProperties{},
		webSocketProperties{},
		queueProperties{},
		tableProperties{},
		managedPolicyProperties{},
		policyDocument{},
		policyStatement{},
		routeProperties{},
		restRouteProperties{},
		scheduleProperties{},
		streamProperties{},
		queueMappingProperties{},
	}
}

// Words are the other supported words of a template, by kind.
func Words() map[string][]string {
	r := &resolver{}
	return map[string][]string{
		"resource type":             supportedTypes(),
		"intrinsic function":        slices.Collect(maps.Keys(r.intrinsics())),
		"condition function":        slices.Collect(maps.Keys(r.conditionFunctions())),
		"pseudo parameter":          slices.Collect(maps.Keys(r.pseudo())),
		"attribute":                 slices.Collect(maps.Keys(r.attributes(""))),
		"event type":                slices.Collect(maps.Keys(r.events(&Function{}))),
		"policy condition":          slices.Collect(maps.Keys(operators())),
		"property that gives names": slices.Collect(maps.Values(nameProperties())),
	}
}
