package agentconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
)

func TestCallers(t *testing.T) {
	for _, c := range []struct {
		callers, scope, value string
		want                  bool
	}{
		{"", "", "", true},
		{`,"callers":{"scope":"finance"}`, "openid finance", "", true},
		{`,"callers":{"scope":"finance"}`, "openid finances", "finance", false},
		{`,"callers":{"claim":"groups","any_of":["a","b"]}`, "groups a", "b", true},
		{`,"callers":{"claim":"groups","any_of":["a","b"]}`, "a b", "c", false},
		{`,"callers":{"scope":"finance","claim":"groups","any_of":["a"]}`, "finance", "", true},
		{`,"callers":{"scope":"finance","claim":"groups","any_of":["a"]}`, "", "a", true},
		{`,"callers":{"scope":"finance","claim":"groups","any_of":["a"]}`, "", "", false},
	} {
		rule := mustParse(t, `{"x":{"type":"http","url":"http://h"`+c.callers+`}}`)["x"].Callers
		got := rule.Include(c.scope, func(claim, value string) bool { return claim == "groups" && value == c.value })
		if got != c.want {
			t.Errorf("%s with scope %q and value %q: %v", c.callers, c.scope, c.value, got)
		}
	}
}

func TestKept(t *testing.T) {
	got := mustParse(t, `{"x":{"type":"http","url":"http://h","headers":{"X-Other":"o"},"api_key_parameter":"/rethread/agents/key","header_parameters":{"x-key":"/rethread/agents/x.2"}}}`)
	want := map[string]agentconfig.Kept{"Authorization": {Prefix: "Bearer ", Name: "/rethread/agents/key"}, "X-Key": {Name: "/rethread/agents/x.2"}}
	if diff := cmp.Diff(want, got["x"].Endpoint.Kept); diff != "" || len(got["x"].Endpoint.Header) != 1 {
		t.Errorf("kept (-want +got):\n%s%v", diff, got["x"].Endpoint.Header)
	}
}
