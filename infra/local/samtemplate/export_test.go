package samtemplate

import (
	"maps"
	"slices"
)

// Properties are the zero values of all that the properties of a template are read
// into.
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

// Words are what else of a template is understood, by kind.
func Words() map[string][]string {
	r := &resolver{}
	return map[string][]string{
		"resource type":             known(),
		"intrinsic function":        slices.Collect(maps.Keys(r.intrinsics())),
		"condition function":        slices.Collect(maps.Keys(r.conditionFunctions())),
		"pseudo parameter":          slices.Collect(maps.Keys(r.pseudo())),
		"attribute":                 slices.Collect(maps.Keys(r.attributes(""))),
		"event type":                slices.Collect(maps.Keys(r.events(&Function{}))),
		"policy condition":          slices.Collect(maps.Keys(operators())),
		"property that gives names": slices.Collect(maps.Values(nameProperties())),
	}
}
