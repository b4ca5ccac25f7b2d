package access_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestCaller_CheckApp(t *testing.T) {
	delta := session.Delta{"a": nil, "user:b": nil, "app:c/d": nil}
	var f *fault.Error
	if err := (access.Caller{}).CheckApp(delta, "/state"); !errors.As(err, &f) || f.Kind != fault.Forbidden || f.Violations[0].Pointer != "/state/app:c~1d" {
		t.Errorf("refused with %+v", err)
	}
	if err := (access.Caller{ChangesApp: true}).CheckApp(delta, "/state"); err != nil {
		t.Error(err)
	}
	delete(delta, "app:c/d")
	if err := (access.Caller{}).CheckApp(delta, "/state"); err != nil {
		t.Error(err)
	}
}

func TestCaller_Stamp(t *testing.T) {
	forged := session.Event{Fields: map[string]json.RawMessage{session.CreatedBy: json.RawMessage(`{"service":"x"}`), "other": json.RawMessage("1")}}
	for name, c := range map[string]struct {
		caller access.Caller
		want   string
	}{
		"a user":             {access.Caller{UserID: "alice"}, ""},
		"a service itself":   {access.Caller{UserID: "backend", Service: "backend"}, ""},
		"a service for user": {access.Caller{UserID: `al"ice`, Service: "backend"}, `{"service":"backend","user_id":"al\"ice"}`},
	} {
		got := c.caller.Stamp(forged)
		if string(got.Fields[session.CreatedBy]) != c.want || string(got.Fields["other"]) != "1" {
			t.Errorf("%s: %s", name, got.Fields)
		}
		if !got.SameAs(forged) {
			t.Errorf("%s: the event of another sender is no redelivery", name)
		}
	}
	if string(forged.Fields[session.CreatedBy]) != `{"service":"x"}` {
		t.Error("the event of the request was changed")
	}
}
