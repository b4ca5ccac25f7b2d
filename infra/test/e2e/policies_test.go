package e2e_test

import (
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
)

// neededElsewhere are permissions that these tests do not use, or only by chance,
// and the reasons that functions need them.
func neededElsewhere() map[string]string {
	const (
		checkpoint = "making up for a checkpoint of the state that a crash left out"
		feedback   = "taking an erased user's feedback out of a task that many others save"
		hidden     = "having what DynamoDB refused come again soon"
		agents     = "reading the agents as it starts, which few functions do where these tests keep them in a parameter"
		several    = "storing, or discarding, what fills several items"
		lease      = "ending runs whose leases are out, which whoever comes by first does"
	)
	return map[string]string{
		"ForkFunction dynamodb:Query table/Table/index/activity":      "counting the sessions of a user again at the limit",
		"AGUIFunction dynamodb:Query table/Table/index/activity":      "counting the sessions of a user again at the limit",
		"AISDKFunction dynamodb:Query table/Table/index/activity":     "counting the sessions of a user again at the limit",
		"ResponsesFunction dynamodb:Query table/Table/index/activity": "counting the sessions of a user again at the limit",
		"AGUIFunction dynamodb:BatchGetItem table/Table":              "listing the active runs of a user at the limit",
		"AISDKFunction dynamodb:BatchGetItem table/Table":             "listing the active runs of a user at the limit",
		"ResponsesFunction dynamodb:BatchGetItem table/Table":         "listing the active runs of a user at the limit",

		"A2AFunction ssm:GetParameters parameter/rethread/agents":             agents,
		"AGUIFunction ssm:GetParameters parameter/rethread/agents":            agents,
		"AISDKFunction ssm:GetParameters parameter/rethread/agents":           agents,
		"ResponsesFunction ssm:GetParameters parameter/rethread/agents":       agents,
		"AutomationRulesFunction ssm:GetParameters parameter/rethread/agents": agents,
		"DeliverFunction ssm:GetParameters parameter/rethread/agents":         agents,
		"ForkFunction ssm:GetParameters parameter/rethread/agents":            agents,
		"ImportsFunction ssm:GetParameters parameter/rethread/agents":         agents,
		"MCPFunction ssm:GetParameters parameter/rethread/agents":             agents,

		"AutomationRulesFunction dynamodb:BatchWriteItem table/Table": "deleting an automation with waiting deliveries",

		"AGUIFunction dynamodb:BatchWriteItem table/Table":      several,
		"AISDKFunction dynamodb:BatchWriteItem table/Table":     several,
		"ResponsesFunction dynamodb:BatchWriteItem table/Table": several,
		"ForkFunction dynamodb:BatchWriteItem table/Table":      several,
		"RewindFunction dynamodb:BatchWriteItem table/Table":    several,
		"MCPFunction dynamodb:BatchWriteItem table/Table":       several,
		"RunsFunction dynamodb:BatchWriteItem table/Table":      several,

		"EventsFunction dynamodb:DeleteItem table/Table":          lease,
		"ArtifactsFunction dynamodb:BatchGetItem table/Table":     "finding an invocation that a fork took over from a session that was rewound often",
		"ArtifactsFunction dynamodb:DeleteItem table/Table":       "ending a deletion that stopped halfway",
		"ExportFunction dynamodb:DeleteItem table/Table":          "ending a deletion that stopped halfway",
		"WatchFunction dynamodb:DeleteItem table/Table":           lease,
		"DeliverFunction dynamodb:BatchWriteItem table/Table":     "discarding a failed run with a state that fills several items",
		"DeliverFunction dynamodb:DeleteItem table/Table":         lease,
		"DeliverFunction dynamodb:BatchGetItem table/Table":       "listing the active runs of a user at the limit",
		"AutomationsFunction dynamodb:BatchWriteItem table/Table": "discarding a failed run with a state that fills several items",
		"AutomationsFunction dynamodb:DeleteItem table/Table":     lease,
		"AutomationsFunction dynamodb:BatchGetItem table/Table":   "listing the active runs of a user at the limit",
		"DeliverFunction sqs:SendMessage Abandoned.fifo":          "abandoning notifications that failed for a day",
		"ExportFunction dynamodb:BatchWriteItem table/Table":      checkpoint,
		"ExportFunction dynamodb:PutItem table/Table":             checkpoint,
		"ImportsFunction dynamodb:DeleteItem table/Table":         lease,
		"ImportsFunction dynamodb:UpdateItem table/Table":         lease,
		"FanoutFunction dynamodb:BatchWriteItem table/Table":      "removing connections that were lost without a $disconnect",
		"FanoutFunction dynamodb:DeleteItem table/Table":          "removing one connection that was lost without a $disconnect",
		"RunnerFunction dynamodb:BatchWriteItem table/Table":      "ending a run with an error that fills several items",
		"ErasureFunction dynamodb:ConditionCheckItem table/Table": feedback,
		"SweeperFunction dynamodb:ConditionCheckItem table/Table": feedback,
		"SweeperFunction dynamodb:BatchWriteItem table/Table":     "finishing interrupted deletions",

		"DeliverFunction sqs:ChangeMessageVisibility Deliveries.fifo": hidden,
		"DeliverFunction sqs:ChangeMessageVisibility Pushes.fifo":     hidden,
		"DeliverFunction sqs:ChangeMessageVisibility Triggers.fifo":   hidden,
		"DeliverFunction sqs:ChangeMessageVisibility DeliveryRetries": hidden,
		"DeliverFunction sqs:ChangeMessageVisibility Retries":         hidden,
	}
}

// usedByTestSystem are permissions that TestSystem uses, and TestSystemAtLength does not.
func usedByTestSystem() map[string]bool {
	return map[string]bool{
		"ArtifactsFunction dynamodb:BatchWriteItem table/Table": true,
		"AutomationsFunction sqs:SendMessage Deliveries.fifo":   true,
		"MCPFunction dynamodb:ConditionCheckItem table/Table":   true,
		"MCPFunction dynamodb:DeleteItem table/Table":           true,
		"MCPFunction dynamodb:GetItem table/Table":              true,
		"MCPFunction dynamodb:PutItem table/Table":              true,
		"MCPFunction dynamodb:Query table/Table":                true,
		"MCPFunction dynamodb:UpdateItem table/Table":           true,
		"SweeperFunction lambda:InvokeFunction RunnerFunction":  true,
	}
}

// testFewPolicies compares all calls of functions to AWS services in the earlier tests
// with the permissions in template.yaml: no call was denied, and those of
// usedByTestSystem are used.
func testFewPolicies(t *testing.T, sys *e2e.System) {
	t.Helper()
	unused := usedByTestSystem()
	eachUse(t, sys, func(permission string, calls int) {
		if calls > 0 {
			delete(unused, permission)
		}
	})
	for permission := range unused {
		t.Errorf("%s is never used", permission)
	}
}

// testPolicies checks the same, and that no other permission is unused.
func testPolicies(t *testing.T, sys *e2e.System) {
	t.Helper()
	excused, used := neededElsewhere(), usedByTestSystem()
	eachUse(t, sys, func(permission string, calls int) {
		_, excuse := excused[permission]
		delete(excused, permission)
		if calls == 0 && !excuse && !used[permission] {
			t.Errorf("%s is never used", permission)
		}
	})
	for permission, reason := range excused {
		t.Errorf("%s is not in the template: %s", permission, reason)
	}
}

// eachUse stops the system and tells how often each permission was used. A call that
// was denied is an error.
func eachUse(t *testing.T, sys *e2e.System, tell func(permission string, calls int)) {
	t.Helper()
	const least = 100
	used := 0
	for _, use := range sys.Uses(t) {
		permission := use.Function + " " + use.Action + " " + use.Resource[strings.LastIndex(use.Resource, ":")+1:]
		if use.Denied {
			t.Errorf("%s is missing: it was denied %d times", permission, use.Calls)
			continue
		}
		if use.Calls > 0 {
			used++
		}
		tell(permission, use.Calls)
	}
	if t.Logf("%d permissions are used", used); used < least {
		t.Errorf("only %d permissions are used, want %d", used, least)
	}
}
