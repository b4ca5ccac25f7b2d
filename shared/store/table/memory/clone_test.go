package memory_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/store/table/tabletest"
)

// keysOf lists the keys of all items of a table.
func keysOf(e *memory.Engine) []string {
	keys := []string{}
	for _, item := range e.Items() {
		keys = append(keys, table.Text(item, table.PK)+" "+table.Text(item, table.SK))
	}
	slices.Sort(keys)
	return keys
}

func mustWrite(t *testing.T, e *memory.Engine, w table.Write) {
	t.Helper()
	if _, err := e.Write(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	e := memory.New(tabletest.Schema())
	for _, sk := range []string{"2", "1"} {
		mustWrite(t, e, table.Put(record{"p", sk, "g", sk}))
	}
	c := e.Clone()
	mustWrite(t, c, table.Put(record{"p", "3", "g", "0"}))
	mustWrite(t, c, table.Put(record{"o", "3", "g", "0"}))
	mustWrite(t, e, table.Delete(table.NewKey("p", "1")))
	if d := cmp.Diff([]string{"p 2"}, keysOf(e)); d != "" {
		t.Errorf("the table (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"o 3", "p 1", "p 2", "p 3"}, keysOf(c)); d != "" {
		t.Errorf("its clone (-want +got):\n%s", d)
	}
	for of, want := range map[*memory.Engine]int{e: 1, c: 4} {
		page, err := of.Query(t.Context(), table.Query{Index: tabletest.Index, Partition: "g"})
		if err != nil || len(page.Items) != want {
			t.Errorf("the index has %d items, want %d; %v", len(page.Items), want, err)
		}
	}
}

func TestFeed(t *testing.T) {
	t.Parallel()
	var notified []string
	image := func(item table.Item) string { return table.Text(item, "GSK") }
	e := memory.New(tabletest.Schema(), memory.Feed(func(before, after table.Item) {
		notified = append(notified, image(before)+">"+image(after))
	}))
	k := table.NewKey("p", "s")
	mustWrite(t, e, table.Put(record{"p", "s", "g", "1"}))
	mustWrite(t, e, table.Put(record{"p", "s", "g", "1"})) // unchanged
	mustWrite(t, e, table.Update(k, []table.Change{table.Set(table.Path{"GSK"}, "2")}))
	mustWrite(t, e, table.Delete(k))
	mustWrite(t, e, table.Delete(k)) // already deleted
	if d := cmp.Diff([]string{">1", "1>2", "2>"}, notified); d != "" {
		t.Errorf("notified (-want +got):\n%s", d)
	}
	both := table.Transaction{Writes: []table.Write{
		table.Put(record{"p", "a", "g", "a"}), table.Put(record{"p", "b", "g", "b"}, table.ItemExists()),
	}}
	if _, err := e.Transact(t.Context(), both); err == nil || len(notified) != 3 {
		t.Errorf("a refused transaction: %v, notified %v", err, notified[3:])
	}
	both.Writes[1].If = nil
	if _, err := e.Transact(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{">a", ">b"}, notified[3:]); d != "" {
		t.Errorf("a transaction (-want +got):\n%s", d)
	}
}
