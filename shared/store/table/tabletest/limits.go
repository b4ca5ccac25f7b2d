package tabletest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
)

func limits(t *trial) {
	// the bytes of p, a and the names PK, SK and x
	full := strings.Repeat("x", table.MaxItemBytes-7)
	t.says("an item has up to 400 KB", func(t *trial) {
		t.done(table.Put(item("a", table.Item{"x": text(full)})))
		t.fails(table.Put(item("a", table.Item{"x": text(full + "x")})), table.ErrTooLarge)
		t.fails(table.Update(key("a"), []table.Change{table.Set(table.Path{"y"}, "")}), table.ErrTooLarge)
		err := t.transact("", table.Update(key("a"), []table.Change{table.Set(table.Path{"y"}, "")}))
		if !errors.Is(err, table.ErrTooLarge) {
			t.Errorf("in a transaction: %v", err)
		}
	})
	t.says("a transaction has up to 100 writes of different items", func(t *trial) {
		var writes []table.Write
		for i := range table.MaxTransaction + 1 {
			writes = append(writes, table.Put(item(fmt.Sprint("t", i), nil)))
		}
		for i, w := range [][]table.Write{writes, nil, {writes[0], table.Delete(writes[0].Key)}} {
			if err := t.transact("", w...); !errors.Is(err, table.ErrInvalid) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if err := t.transact("", writes[1:]...); err != nil {
			t.Error(err)
		}
	})
	t.says("and up to 4 MB", func(t *trial) {
		var writes []table.Write
		for i := range 11 {
			writes = append(writes, table.Put(item(fmt.Sprint("b", i), table.Item{"x": text(strings.Repeat("x", 390<<10))})))
		}
		if err := t.transact("", writes...); !errors.Is(err, table.ErrTooLarge) {
			t.Error(err)
		}
		if err := t.transact("", writes[1:]...); err != nil {
			t.Error(err)
		}
	})
	t.says("keys have up to 2048 and 1024 bytes", func(t *trial) {
		longest := table.Key{PK: strings.Repeat("é", table.MaxPartitionKey/2), SK: strings.Repeat("é", table.MaxSortKey/2)}
		t.done(table.Delete(longest))
		for _, k := range []table.Key{{PK: "p"}, {SK: "s"}, {PK: longest.PK + "x", SK: "s"}, {PK: "p", SK: longest.SK + "x"}} {
			t.fails(table.Delete(k), table.ErrInvalid)
		}
	})
}

func units(t *trial) {
	kilo := func(n int) table.Item { return table.Item{"x": text(strings.Repeat("x", n<<10-7))} }
	costs := func(t *trial, got table.Units, read, write float64) {
		t.Helper()
		t.same(table.Units{Read: read, Write: write}, got)
	}
	t.says("a write costs a unit for each kilobyte of the larger item, at least one", func(t *trial) {
		costs(t, t.done(table.Delete(key("a"))), 0, 1)
		costs(t, t.done(table.Put(item("a", kilo(3)))), 0, 3)
		costs(t, t.done(table.Update(key("a"), []table.Change{table.Set(table.Path{"y"}, 1)})), 0, 4)
		costs(t, t.done(table.Put(item("a", nil))), 0, 4)
	})
	t.says("a failed condition costs as much", func(t *trial) {
		t.done(table.Put(item("b", kilo(3))))
		for _, w := range []table.Write{table.Put(item("b", nil), table.ItemNotExists()), table.Delete(key("b"), table.ItemNotExists())} {
			u, err := t.Write(t.ctx(), w)
			if !errors.Is(err, table.ErrConditionFailed) {
				t.Fatal(err)
			}
			costs(t, u, 0, 3)
		}
	})
	t.says("each change of an index costs units, a move twice", func(t *trial) {
		in := table.Item{"GPK": text("g"), "GSK": text("1"), "x": text("1")}
		costs(t, t.done(table.Put(item("i", in))), 0, 2)
		in["x"] = text("2")
		costs(t, t.done(table.Put(item("i", in))), 0, 1)
		in["name"] = text("2")
		costs(t, t.done(table.Put(item("i", in))), 0, 2)
		in["GSK"] = text("2")
		costs(t, t.done(table.Put(item("i", in))), 0, 3)
		costs(t, t.done(table.Delete(key("i"))), 0, 2)
	})
	t.says("a read costs a unit for each 4 KB, half if eventually consistent", func(t *trial) {
		t.done(table.Put(item("r", kilo(5))))
		for k, want := range map[table.Key]float64{key("r"): 2, key("none"): 1} {
			_, u, _ := t.Get(t.ctx(), k, table.Reading{Consistent: true})
			costs(t, u, want, 0)
			_, u, _ = t.Get(t.ctx(), k, table.Reading{Members: []string{"SK"}})
			costs(t, u, want/2, 0)
		}
		_, u, _ := t.BatchGet(t.ctx(), []table.Key{key("r"), key("none")}, table.Reading{Consistent: true})
		costs(t, u, 3, 0)
	})
	t.says("a page costs the units of its total size", func(t *trial) {
		for i := range 3 {
			t.done(table.Put(table.Item{table.PK: text("q"), table.SK: text(fmt.Sprint(i)), "x": text(strings.Repeat("x", 2000))}))
		}
		page, _ := t.Query(t.ctx(), table.Query{Partition: "q"})
		costs(t, page.Units, 1, 0)
		page, _ = t.Query(t.ctx(), table.Query{Partition: "nobody", Reading: table.Reading{Consistent: true}})
		costs(t, page.Units, 1, 0)
	})
	t.says("a transaction costs double, and a cancelled one as much", func(t *trial) {
		writes := []table.Write{table.Put(item("t", kilo(2))), table.Check(key("u"), table.ItemNotExists()), table.Delete(key("v"))}
		u, err := t.Transact(t.ctx(), table.Transaction{Writes: writes})
		if err != nil {
			t.Fatal(err)
		}
		costs(t, u, 0, 8)
		writes[1] = table.Check(key("t"), table.ItemNotExists())
		writes[0] = table.Put(item("w", nil))
		if u, err = t.Transact(t.ctx(), table.Transaction{Writes: writes}); !errors.Is(err, table.ErrConditionFailed) {
			t.Fatal(err)
		}
		costs(t, u, 0, 8)
	})
}

func refusals(t *trial) {
	t.says("values that no table accepts are invalid", func(t *trial) {
		deep := text("x")
		for range 32 {
			deep = list(deep)
		}
		for name, v := range map[string]types.AttributeValue{
			"an empty set": set(), "a duplicate in a set": set("a", "a"), "an empty name": object(table.Item{"": text("")}),
			"a false null": &types.AttributeValueMemberNULL{}, "too deep": deep,
		} {
			if _, err := t.Write(t.ctx(), table.Put(item("a", table.Item{"x": v}))); !errors.Is(err, table.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.says("malformed conditions and changes are invalid", func(t *trial) {
		change := func(c ...table.Change) table.Write { return table.Update(key("a"), c) }
		for i, w := range []table.Write{
			change(), change(nil), change(table.Set(at(), 1)), change(table.Set(at(""), 1)), change(table.Set(at("SK"), 1)), change(table.Remove(at("GPK", "x"))),
			change(table.Set(at("a"), 1), table.Remove(at("a", "b"))), change(table.Add(at("a"), 1), table.Add(at("a"), 1)),
			change(table.AddToSet(at("m", "s"), "a")), change(table.AddToSet(at("s"))), change(table.AddToSet(at("s"), "a", "a")), change(table.Set(at("x"), set())),
			table.Delete(key("a"), table.Less(at("x"), true)), table.Delete(key("a"), table.Contains(at("x"), set("a"))), table.Delete(key("a"), table.And()),
			table.Delete(key("a"), table.Not(table.Or())), table.Delete(key("a"), table.Not(nil)), table.Delete(key("a"), table.Exists(at())), table.Check(key("a"), table.ItemExists()),
			table.Put(table.Item{"x": text("")}), table.Put(func() {}),
			{},
		} {
			if _, err := t.Write(t.ctx(), w); !errors.Is(err, table.ErrInvalid) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
	t.says("malformed queries are invalid", func(t *trial) {
		for i, q := range []table.Query{
			{},
			{Partition: "p", From: "b", To: "a"},
			{Partition: "p", Limit: -1},
			{Partition: "p", Index: "none"},
			{Partition: "p", Index: Index, Reading: table.Reading{Consistent: true}},
			{Partition: "p", Index: Index, Reading: table.Reading{Members: []string{"x"}}},
			{Partition: "p", After: table.Position{table.PK: text("q"), table.SK: text("a")}},
			{Partition: "p", From: "b", After: table.Position(item("a", nil))},
			{Partition: "p", After: table.Position(item("a", table.Item{"x": text("a")}))},
			{Partition: "p", Reading: table.Reading{Members: []string{"a", "a"}}},
		} {
			if _, err := t.Query(t.ctx(), q); !errors.Is(err, table.ErrInvalid) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}
