// Package tabletest is the conformance suite of the storage contract, which an
// engine's test runs by one function. It is written to be read as a specification.
package tabletest

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/shared/store/table"
)

// Index is the index of the tested tables.
const Index table.Index = "activity"

// Schema returns the schema of the tested tables, which is that of template.yaml.
func Schema() table.Schema {
	return table.Schema{Indexes: []table.IndexSchema{{
		Name: Index, Partition: "GPK", Sort: "GSK", NonKeyMembers: []string{"name", "agent", "app", "status"},
	}}}
}

// Run tests an engine. open returns an empty table of the Schema.
func Run(t *testing.T, open func(t *testing.T) table.Engine) {
	t.Helper()
	for name, test := range map[string]func(*trial){
		"items":        items,
		"conditions":   conditions,
		"changes":      changes,
		"numbers":      numbers,
		"transactions": transactions,
		"queries":      queries,
		"index":        index,
		"batches":      batches,
		"limits":       limits,
		"units":        units,
		"refusals":     refusals,
		"contexts":     contexts,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&trial{T: t, Engine: open(t)})
		})
	}
}

// trial is a test of one table.
type trial struct {
	*testing.T
	table.Engine
}

// says runs a subtest whose name is a sentence.
func (t *trial) says(sentence string, test func(*trial)) {
	t.Helper()
	t.Run(sentence, func(sub *testing.T) { test(&trial{sub, t.Engine}) })
}

func (t *trial) ctx() context.Context { return t.Context() }

// done carries out a write that must succeed.
func (t *trial) done(w table.Write) table.Units {
	t.Helper()
	u, err := t.Write(t.ctx(), w)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// fails carries out a write that must return an error.
func (t *trial) fails(w table.Write, want error) {
	t.Helper()
	if _, err := t.Write(t.ctx(), w); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// finds carries out a write whose condition must fail and return the item in want.
func (t *trial) finds(w table.Write, want table.Item) {
	t.Helper()
	_, err := t.Write(t.ctx(), w)
	var failed *table.ConditionError
	if !errors.As(err, &failed) || len(failed.Failures) != 1 || failed.Failures[0].Write != 0 {
		t.Fatalf("got %v", err)
	}
	t.same(want, failed.Failures[0].Found)
}

// holds checks the item stored under a key.
func (t *trial) holds(k table.Key, want table.Item) {
	t.Helper()
	got, _, err := t.Get(t.ctx(), k, table.Reading{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.same(want, got)
}

func (t *trial) same(want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, Same()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Same compares items: sets in any order, and an empty list equal to none.
func Same() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreUnexported(
			types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{},
			types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{},
			types.AttributeValueMemberL{}, types.AttributeValueMemberM{},
			types.AttributeValueMemberBOOL{}, types.AttributeValueMemberNULL{},
		),
		cmpopts.SortSlices(func(a, b string) bool { return a < b }),
	}
}

func key(sk string) table.Key { return table.Key{PK: "p", SK: sk} }

// item returns an item of the partition p.
func item(sk string, members table.Item) table.Item {
	out := table.Item{table.PK: text("p"), table.SK: text(sk)}
	for name, v := range members {
		out[name] = v
	}
	return out
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
func set(s ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: s} }
func list(v ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: v}
}
func object(m table.Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: m} }
