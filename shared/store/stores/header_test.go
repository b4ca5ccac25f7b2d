package stores_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// origin is where a new session's value of an attribute comes from, compared with
// the session it was made from.
type origin string

const (
	copied origin = "copied"      // the same value
	anew   origin = "set anew"    // another value
	given  origin = "set"         // a value, which may be the same
	absent origin = "left out"    // none
	none   origin = "no decision" // no line in the table below
)

// attributes lists, for each attribute of a session's item, its origin in a fork
// and in an import.
func attributes() map[string]struct{ fork, imported origin } {
	return map[string]struct{ fork, imported origin }{
		"PK": {anew, copied}, "SK": {copied, copied}, "GPK": {copied, copied}, "GSK": {anew, given},
		"u": {copied, copied}, "app": {copied, copied}, "agent": {copied, copied}, "m": {copied, copied},
		"name": {anew, copied}, "status": {anew, copied}, "l": {anew, anew}, "v": {anew, anew},
		"ct": {anew, copied}, "ut": {anew, given}, "n": {anew, anew}, "ik": {anew, anew},
		"e": {absent, copied}, "mk": {absent, copied}, "tl": {absent, anew}, "fk": {absent, absent}, "th": {absent, absent},
		"fo": {anew, absent}, "tk": {absent, given}, "bf": {absent, given}, "im": {absent, given},
		"rt": {copied, anew}, "ro": {copied, absent}, // an import is kept as the deployment says
		"qn": {copied, copied}, "by": {absent, given},
		"rn": {absent, absent}, "rk": {absent, absent}, "ca": {absent, absent}, "rx": {absent, copied},
		"rf": {absent, copied},
		"ma": {absent, absent}, "mo": {absent, absent}, "sv": {absent, absent},
		"ql": {absent, absent}, "qv": {absent, absent},
	}
}

// wantOrigins compares the attributes of a session's item with the decisions;
// code names where they are made.
func wantOrigins(t *testing.T, from, made table.Item, code string, want func(attribute string) origin) {
	t.Helper()
	fields := headerAttributes()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		got := given
		switch value, ok := made[name]; {
		case !ok:
			got = absent
		case want(name) == copied && reflect.DeepEqual(from[name], value):
			got = copied
		case want(name) == anew && !reflect.DeepEqual(from[name], value):
			got = anew
		}
		switch w := want(name); {
		case w == none:
			t.Errorf("attribute %q (header.%s) is new: decide in %s what the session has in it, and in attributes here", name, fields[name], code)
		case got != w:
			t.Errorf("attribute %q (header.%s) is %s, want that it is %s: see %s", name, fields[name], got, w, code)
		}
	}
}

// blank reports whether a value is missing, empty or zero. Such a value cannot show
// whether it was copied.
func blank(v types.AttributeValue) bool {
	switch v := v.(type) {
	case nil, *types.AttributeValueMemberNULL:
		return true
	case *types.AttributeValueMemberS:
		return v.Value == ""
	case *types.AttributeValueMemberN:
		return v.Value == "0"
	case *types.AttributeValueMemberB:
		return len(v.Value) == 0
	}
	return false
}

// TestHeader_attributes forks and imports a session that has a value in every attribute.
func TestHeader_attributes(t *testing.T) {
	t.Parallel()
	clock := &calendar{}
	options := []stores.Option{
		stores.WithClock(clock.now), stores.WithRetention(func(string) int64 { return 3600 }),
		stores.WithQuotas(quota.Limits{Sessions: 9, Bytes: 1 << 20}),
	}
	engine := storetest.Engine(t)
	s := stores.New(engine, options...)
	if _, err := s.Sessions.Create(t.Context(), session.New{
		ID: "root", UserID: alice, Agent: "agent", AppName: "app", Name: "root", Metadata: []byte(`{"a":1}`), Retention: 60, Nonce: "1",
	}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, alice, "root", event(t, "", "i1", "hello"))
	fork := func(of, id string) table.Item {
		t.Helper()
		clock.forward(time.Second)
		f := session.ForkOf{UserID: alice, SessionID: of, ID: id, Nonce: "fork " + id, KeyedBy: "key of " + id}
		if _, err := s.History.Fork(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		return storetest.Item(t, engine, table.NewKey("S#"+id, "HEAD"))
	}
	fork("root", "s")
	mustAppend(t, s, alice, "s", event(t, "", "i2", "undone"))
	mustRewind(t, s, "s", "i2")
	fork("s", "first")
	name := "renamed"
	if _, err := s.Sessions.Update(t.Context(), alice, "s", session.Patch{Name: &name}); err != nil {
		t.Fatal(err)
	}
	mustStart(t, s, startOf(t, "s", "failed", "go"))
	mustEnd(t, s, refOf("s", "failed"), run.Failed, run.NewProblem("boom", "it broke"))
	key := table.NewKey("S#s", "HEAD")
	storetest.Spoil(t, engine, key, table.Set(table.Path{"rf"}, "kept")) // no session has both
	doc, exported := mustExport(t, s), storetest.Item(t, engine, key)

	t.Run("of a fork", func(t *testing.T) {
		for attribute, value := range map[string]any{
			"tk": 1, "bf": true, "im": 1, "by": 9, "th": 3, "rn": "run", "rk": map[string]any{"r": "run", "n": 1}, "ca": []string{"automation"}, "ma": 1, "mo": 1, "ql": 1, "qv": 1,
		} {
			storetest.Spoil(t, engine, key, table.Set(table.Path{attribute}, value))
		}
		source := storetest.Item(t, engine, key)
		for attribute, field := range headerAttributes() {
			if blank(source[attribute]) && attribute != "sv" { // a save under way would have to end first
				t.Errorf("the source, itself a fork, has no %q (header.%s): see forkHeader in fork.go", attribute, field)
			}
		}
		wantOrigins(t, source, fork("s", "second"), "forkHeader in fork.go", func(attribute string) origin {
			if a, ok := attributes()[attribute]; ok {
				return a.fork
			}
			return none
		})
	})
	t.Run("of an import", func(t *testing.T) {
		other := storetest.Engine(t)
		u := upload(t, doc)
		u.UserID, u.KeyedBy = alice, "key of the import"
		if _, err := stores.New(other, options...).Archives.Import(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		wantOrigins(t, exported, storetest.Item(t, other, key), "header in import_commit.go", func(attribute string) origin {
			if a, ok := attributes()[attribute]; ok {
				return a.imported
			}
			return none
		})
	})
	if len(attributes()) != len(headerAttributes()) {
		t.Errorf("%d attributes are decided, the header has %d", len(attributes()), len(headerAttributes()))
	}
}
