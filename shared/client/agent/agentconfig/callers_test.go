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
		met := rule.Met(c.scope, func(claim, value string) bool { return claim == "groups" && value == c.value })
		if got := rule.Include(met); got != c.want {
			t.Errorf("%s with scope %q and value %q: %v", c.callers, c.scope, c.value, got)
		}
	}
}

// What a token met counts later only as far as the rule still asks for it.
func TestCallers_later(t *testing.T) {
	rule := func(callers string) agentconfig.Callers {
		return mustParse(t, `{"x":{"type":"http","url":"http://h"`+callers+`}}`)["x"].Callers
	}
	met := rule(`,"callers":{"scope":"finance","claim":"groups","any_of":["a","b"]}`).Met("finance", func(_, value string) bool { return value == "b" })
	if diff := cmp.Diff([]string{"scope=finance", "groups=b"}, met); diff != "" {
		t.Fatalf("met (-want +got):\n%s", diff)
	}
	for callers, want := range map[string]bool{
		``: true, `,"callers":{"scope":"finance"}`: true, `,"callers":{"scope":"audit"}`: false,
		`,"callers":{"claim":"groups","any_of":["b","c"]}`: true, `,"callers":{"claim":"groups","any_of":["a"]}`: false,
		`,"callers":{"claim":"teams","any_of":["b"]}`: false, `,"callers":{"scope":"audit","claim":"groups","any_of":["b"]}`: true,
	} {
		if got := rule(callers).Include(met); got != want {
			t.Errorf("%s: %v", callers, got)
		}
	}
	if rule(`,"callers":{"scope":"finance"}`).Include(nil) {
		t.Error("without a proof the owner may call")
	}
}

func TestKept(t *testing.T) {
	got := mustParse(t, `{"x":{"type":"http","url":"http://h","headers":{"X-Other":"o"},"api_key_parameter":"/rethread/agents/key","header_parameters":{"x-key":"/rethread/agents/x.2"}}}`)
	want := map[string]agentconfig.Kept{"Authorization": {Prefix: "Bearer ", Name: "/rethread/agents/key"}, "X-Key": {Name: "/rethread/agents/x.2"}}
	if diff := cmp.Diff(want, got["x"].Endpoint.Kept); diff != "" || len(got["x"].Endpoint.Header) != 1 {
		t.Errorf("kept (-want +got):\n%s%v", diff, got["x"].Endpoint.Header)
	}
}
