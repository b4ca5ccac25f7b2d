package tabletest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/store/table"
)

func (t *trial) transact(token string, writes ...table.Write) error {
	_, err := t.Transact(t.ctx(), table.Transaction{Token: token, Writes: writes})
	return err
}

func transactions(t *trial) {
	t.says("all writes happen", func(t *trial) {
		t.done(table.Put(item("gone", nil)))
		err := t.transact("", table.Put(item("a", nil)), table.Delete(key("gone")), table.Check(key("none"), table.ItemNotExists()),
			table.Update(key("b"), []table.Change{table.Add(table.Path{"n"}, 1)}, table.ItemNotExists()))
		if err != nil {
			t.Fatal(err)
		}
		t.holds(key("a"), item("a", nil))
		t.holds(key("b"), item("b", table.Item{"n": number("1")}))
		t.holds(key("gone"), nil)
	})
	t.says("no write happens if one fails, and the error lists the failures and the stored items", func(t *trial) {
		err := t.transact("", table.Put(item("c", nil)), table.Put(item("a", nil), table.ItemNotExists()),
			table.Check(key("none"), table.ItemExists()), table.Delete(key("b"), table.Equal(table.Path{"n"}, 2)))
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			t.Fatal(err)
		}
		t.same([]table.Failure{
			{Write: 1, Found: item("a", nil)}, {Write: 2}, {Write: 3, Found: item("b", table.Item{"n": number("1")})},
		}, failed.Failures)
		t.holds(key("c"), nil)
	})
	t.says("an invalid write takes precedence over failed conditions", func(t *trial) {
		err := t.transact("", table.Put(item("a", nil), table.ItemNotExists()),
			table.Update(key("c"), []table.Change{table.Set(table.Path{"no", "k"}, 1)}))
		if !errors.Is(err, table.ErrInvalid) || errors.Is(err, table.ErrConditionFailed) {
			t.Error(err)
		}
	})
	t.says("a repeat with the same token succeeds and changes nothing", func(t *trial) {
		once := []table.Write{table.Update(key("t"), []table.Change{table.Add(table.Path{"n"}, 1)}, table.ItemNotExists())}
		if err := errors.Join(t.transact("token", once...), t.transact("token", once...)); err != nil {
			t.Error(err)
		}
		t.holds(key("t"), item("t", table.Item{"n": number("1")}))
		if err := t.transact("token", table.Put(item("u", nil))); !errors.Is(err, table.ErrInvalid) {
			t.Errorf("other writes: %v", err)
		}
		if err := t.transact("failed", once...); !errors.Is(err, table.ErrConditionFailed) {
			t.Error(err)
		}
		if err := t.transact("failed", table.Put(item("u", nil))); err != nil {
			t.Errorf("a token of a transaction that failed: %v", err)
		}
	})
}

func queries(t *trial) {
	for i := range 5 {
		t.done(table.Put(item(fmt.Sprint("k", i), table.Item{"x": number(fmt.Sprint(i))})))
	}
	t.done(table.Put(table.Item{table.PK: text("other"), table.SK: text("k9")}))
	ask := func(t *trial, q table.Query, want ...string) table.Position {
		t.Helper()
		q.Partition, q.Consistent = "p", true
		page, err := t.Query(t.ctx(), q)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]string, 0, len(want))
		for _, one := range page.Items {
			got = append(got, table.Text(one, table.SK))
		}
		t.same(strings.Join(want, " "), strings.Join(got, " "))
		return page.Next
	}
	t.says("a partition is read in the order of its keys, in both directions", func(t *trial) {
		ask(t, table.Query{}, "k0", "k1", "k2", "k3", "k4")
		ask(t, table.Query{Descending: true}, "k4", "k3", "k2", "k1", "k0")
	})
	t.says("bounds are inclusive", func(t *trial) {
		ask(t, table.Query{From: "k1", To: "k3"}, "k1", "k2", "k3")
		ask(t, table.Query{From: "k3"}, "k3", "k4")
		ask(t, table.Query{To: "k0x", Descending: true}, "k0")
		ask(t, table.Query{From: "k", To: table.PrefixEnd("k")}, "k0", "k1", "k2", "k3", "k4")
		ask(t, table.Query{From: "l"})
	})
	t.says("a page continues where the previous one ended", func(t *trial) {
		next := ask(t, table.Query{Limit: 2, From: "k1"}, "k1", "k2")
		next = ask(t, table.Query{Limit: 2, From: "k1", After: next}, "k3", "k4")
		if next = ask(t, table.Query{Limit: 2, From: "k1", After: next}); next != nil {
			t.Errorf("more after the end: %v", next)
		}
		next = ask(t, table.Query{Limit: 3, Descending: true}, "k4", "k3", "k2")
		ask(t, table.Query{Limit: 3, Descending: true, After: next}, "k1", "k0")
		ask(t, table.Query{After: table.Position(item("k2x", nil))}, "k3", "k4")
	})
	t.says("a page ends with the item that exceeds a megabyte", func(t *trial) {
		for i := range 4 {
			t.done(table.Put(table.Item{table.PK: text("big"), table.SK: text(fmt.Sprint(i)), "x": text(strings.Repeat("x", 350<<10))}))
		}
		page, err := t.Query(t.ctx(), table.Query{Partition: "big", Reading: table.Reading{Consistent: true, Members: []string{"SK"}}})
		if err != nil || len(page.Items) != 3 || page.Next == nil {
			t.Errorf("%d items, %v, %v", len(page.Items), page.Next, err)
		}
	})
}

func index(t *trial) {
	entry := func(sk, gsk string) table.Item {
		return item(sk, table.Item{"GPK": text("g"), "GSK": text(gsk), "x": text("1"), "name": text("n")})
	}
	ask := func(t *trial, want ...table.Item) {
		t.Helper()
		page, err := t.Query(t.ctx(), table.Query{Index: Index, Partition: "g"})
		if err != nil {
			t.Fatal(err)
		}
		t.same(want, page.Items)
	}
	projected := func(sk, gsk string) table.Item {
		out := entry(sk, gsk)
		delete(out, "x")
		return out
	}
	t.says("contains the items that have both its keys, with the projected members", func(t *trial) {
		t.done(table.Put(entry("a", "2")))
		t.done(table.Put(entry("b", "1")))
		t.done(table.Put(item("c", table.Item{"GPK": text("g")})))
		ask(t, projected("b", "1"), projected("a", "2"))
	})
	t.says("items move within it and leave it", func(t *trial) {
		t.done(table.Update(key("b"), []table.Change{table.Set(table.Path{"GSK"}, "3")}))
		ask(t, projected("a", "2"), projected("b", "3"))
		t.done(table.Update(key("a"), []table.Change{table.Remove(table.Path{"GPK"})}))
		t.done(table.Delete(key("b")))
		ask(t)
	})
	t.says("its keys must be non-empty strings", func(t *trial) {
		for _, v := range []table.Item{{"GSK": text("")}, {"GPK": number("1")}, {"GSK": text(strings.Repeat("x", 1025))}} {
			t.fails(table.Put(item("d", v)), table.ErrInvalid)
			for name, one := range v {
				t.fails(table.Update(key("d"), []table.Change{table.Set(table.Path{name}, one)}), table.ErrInvalid)
			}
		}
	})
	t.says("a page of an index continues where the previous one ended", func(t *trial) {
		t.done(table.Put(entry("a", "1")))
		t.done(table.Put(entry("b", "2")))
		page, err := t.Query(t.ctx(), table.Query{Index: Index, Partition: "g", Limit: 1})
		if err != nil || page.Next == nil {
			t.Fatal(page.Next, err)
		}
		page, err = t.Query(t.ctx(), table.Query{Index: Index, Partition: "g", After: page.Next, Reading: table.Reading{Members: []string{"name"}}})
		if err != nil {
			t.Fatal(err)
		}
		t.same([]table.Item{{"name": text("n")}}, page.Items)
	})
}

func batches(t *trial) {
	const many = 130
	var writes []table.Write
	keys := []table.Key{key("none"), key("000")}
	for i := range many {
		sk := fmt.Sprintf("%03d", i)
		writes, keys = append(writes, table.Put(item(sk, nil))), append(keys, key(sk))
	}
	t.says("any number of items is written and read without duplicates", func(t *trial) {
		if _, err := t.BatchWrite(t.ctx(), writes); err != nil {
			t.Fatal(err)
		}
		got, _, err := t.BatchGet(t.ctx(), keys, table.Reading{Consistent: true})
		seen := map[string]bool{}
		for _, one := range got {
			seen[table.Text(one, table.SK)] = true
		}
		if err != nil || len(got) != many || len(seen) != many {
			t.Errorf("%d items, %d keys, %v", len(got), len(seen), err)
		}
	})
	t.says("puts and deletes may be mixed", func(t *trial) {
		if _, err := t.BatchWrite(t.ctx(), []table.Write{table.Delete(key("000")), table.Put(item("new", nil)), table.Delete(key("none"))}); err != nil {
			t.Fatal(err)
		}
		t.holds(key("000"), nil)
		t.holds(key("new"), item("new", nil))
	})
	t.says("an empty batch succeeds", func(t *trial) {
		_, err := t.BatchWrite(t.ctx(), nil)
		got, _, also := t.BatchGet(t.ctx(), nil, table.Reading{})
		if err != nil || also != nil || len(got) != 0 {
			t.Error(err, also, got)
		}
	})
	t.says("conditions, updates and duplicate items are refused", func(t *trial) {
		for i, w := range [][]table.Write{
			{table.Put(item("a", nil), table.ItemExists())},
			{table.Update(key("a"), []table.Change{table.Add(table.Path{"n"}, 1)})},
			{table.Put(item("a", nil)), table.Delete(key("a"))},
			{table.Check(key("a"), table.ItemExists())},
		} {
			if _, err := t.BatchWrite(t.ctx(), w); !errors.Is(err, table.ErrInvalid) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}
