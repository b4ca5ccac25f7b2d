package session_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
)

func TestEvent_LongRunningCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields map[string]json.RawMessage
		want   []string
	}{
		"without a list":        {nil, nil},
		"in Python's spelling":  {map[string]json.RawMessage{"long_running_tool_ids": []byte(`["a","b"]`)}, []string{"a", "b"}},
		"in the wire's":         {map[string]json.RawMessage{"longRunningToolIds": []byte(`["a"]`)}, []string{"a"}},
		"null":                  {map[string]json.RawMessage{"long_running_tool_ids": []byte(`null`)}, nil},
		"of another form":       {map[string]json.RawMessage{"long_running_tool_ids": []byte(`{"a":true}`)}, nil},
		"of another form, once": {map[string]json.RawMessage{"long_running_tool_ids": []byte(`7`), "longRunningToolIds": []byte(`["a"]`)}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, session.Event{Fields: c.fields}.LongRunningCalls()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
