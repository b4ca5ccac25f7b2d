package tabletest

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/store/table"
)

func items(t *trial) {
	t.says("a put item is read, and a second put replaces all of it", func(t *trial) {
		t.holds(key("a"), nil)
		t.done(table.Put(item("a", table.Item{"x": text("1"), "y": number("2.50"), "z": set("b", "a")})))
		t.holds(key("a"), item("a", table.Item{"x": text("1"), "y": number("2.5"), "z": set("a", "b")}))
		t.done(table.Put(item("a", table.Item{"w": list(text("1"), object(table.Item{}))})))
		t.holds(key("a"), item("a", table.Item{"w": list(text("1"), object(table.Item{}))}))
	})
	t.says("a projection reads some members, or none", func(t *trial) {
		t.done(table.Put(item("b", table.Item{"x": text("1"), "y": text("2")})))
		got, _, err := t.Get(t.ctx(), key("b"), table.Reading{Members: []string{"x", "no"}})
		t.same(table.Item{"x": text("1")}, got)
		none, _, also := t.Get(t.ctx(), key("b"), table.Reading{Members: []string{"no"}})
		if err != nil || also != nil || none == nil || len(none) != 0 {
			t.Errorf("%v, %v, %v", err, also, none)
		}
	})
	t.says("a deleted item is gone, and deleting a missing item succeeds", func(t *trial) {
		t.done(table.Put(item("c", nil)))
		t.done(table.Delete(key("c")))
		t.holds(key("c"), nil)
		t.done(table.Delete(key("c")))
	})
	t.says("names are literal", func(t *trial) {
		odd := table.Item{"a.b": text("1"), "c[0]": text("2"), "#d": text("3"), "size": text("4"), ":e": object(table.Item{"f.g": text("5")})}
		t.done(table.Put(item("d", odd)))
		for _, p := range []table.Path{{"a.b"}, {"c[0]"}, {"#d"}, {"size"}, {":e", "f.g"}} {
			t.done(table.Update(key("d"), []table.Change{table.Set(p, "new")}, table.Exists(p)))
			t.done(table.Delete(key("none"), table.NotExists(p)))
		}
		t.finds(table.Delete(key("d"), table.NotEqual(table.Path{":e", "f.g"}, "new")), item("d", table.Item{
			"a.b": text("new"), "c[0]": text("new"), "#d": text("new"), "size": text("new"), ":e": object(table.Item{"f.g": text("new")}),
		}))
	})
}

func conditions(t *trial) {
	stored := item("a", table.Item{
		"n": number("5"), "s": text("abc"), "l": list(text("a"), number("1")), "ss": set("a", "b"),
		"m": object(table.Item{"k": text("v"), "deep": object(table.Item{"n": number("10")})}),
	})
	t.done(table.Put(stored))
	for sentence, cases := range map[string]struct{ hold, fail []table.Condition }{
		"members exist or do not exist": {
			[]table.Condition{table.ItemExists(), table.Exists(at("n")), table.Exists(at("m", "deep", "n")), table.NotExists(at("s", "k")), table.NotExists(at("no", "k"))},
			[]table.Condition{table.ItemNotExists(), table.NotExists(at("n")), table.Exists(at("m", "no")), table.Exists(at("s", "k"))},
		},
		"numbers compare as numbers, strings by bytes": {
			[]table.Condition{
				table.Less(at("n"), 10), table.AtMost(at("n"), 5), table.AtLeast(at("n"), 5), table.Greater(at("m", "deep", "n"), 9),
				table.Equal(at("n"), number("5.0")), table.Less(at("s"), "b"), table.Greater(at("s"), "B"),
			},
			[]table.Condition{table.Less(at("n"), 5), table.Greater(at("n"), 5), table.Less(at("s"), "B"), table.Equal(at("n"), 6)},
		},
		"a missing member or another type is neither less nor equal": {
			[]table.Condition{table.NotEqual(at("n"), "5"), table.NotEqual(at("no"), 1), table.Not(table.Less(at("no"), 1)), table.Not(table.AtLeast(at("n"), "5"))},
			[]table.Condition{table.Less(at("n"), "6"), table.Equal(at("n"), "5"), table.AtMost(at("no"), 1)},
		},
		"sets, lists and maps are equal by their members": {
			[]table.Condition{table.Equal(at("ss"), set("b", "a")), table.Equal(at("l"), list(text("a"), number("1.0"))), table.NotEqual(at("m"), object(table.Item{}))},
			[]table.Condition{table.Equal(at("ss"), set("a")), table.Equal(at("l"), list(number("1"), text("a")))},
		},
		"maps, lists, sets, strings and bytes have a size": {
			[]table.Condition{table.SizeLess(at("ss"), 3), table.SizeLess(at("m"), 3), table.SizeLess(at("l"), 3), table.SizeLess(at("s"), 4), table.Not(table.SizeLess(at("no"), 9))},
			[]table.Condition{table.SizeLess(at("ss"), 2), table.SizeLess(at("n"), 9), table.SizeLess(at("no"), 9)},
		},
		"sets and lists contain values, strings contain substrings": {
			[]table.Condition{table.Contains(at("ss"), "a"), table.Contains(at("l"), 1), table.Contains(at("s"), "bc"), table.Contains(at("s"), "")},
			[]table.Condition{table.Contains(at("ss"), "c"), table.Contains(at("l"), "1"), table.Contains(at("n"), 5), table.Contains(at("m"), "k"), table.Contains(at("no"), "a")},
		},
		"conditions combine and negate": {
			[]table.Condition{
				table.Or(table.ItemNotExists(), table.Equal(at("n"), 5)), table.And(table.ItemExists(), table.Not(table.Or(table.ItemNotExists()))),
				table.Not(table.And(table.ItemExists(), table.NotExists(at("n")))), table.Or(table.And(table.Exists(at("no")), table.Exists(at("n"))), table.Exists(at("s"))),
			},
			[]table.Condition{table.And(table.ItemExists(), table.ItemNotExists()), table.Or(table.ItemNotExists(), table.Not(table.Exists(at("n"))))},
		},
	} {
		t.says(sentence, func(t *trial) {
			for i, c := range cases.hold {
				if _, err := t.Write(t.ctx(), table.Update(key("a"), []table.Change{table.Remove(at("none"))}, c)); err != nil {
					t.Errorf("%d, %+v: %v", i, c, err)
				}
			}
			for _, c := range cases.fail {
				t.finds(table.Delete(key("a"), c), stored)
			}
		})
	}
	t.says("a failed condition changes nothing and returns the stored item, if any", func(t *trial) {
		t.finds(table.Put(item("a", nil), table.ItemNotExists()), stored)
		t.finds(table.Put(item("no", nil), table.ItemExists()), nil)
		t.finds(table.Update(key("no"), []table.Change{table.Set(at("x"), 1)}, table.ItemExists()), nil)
		t.holds(key("a"), stored)
		t.holds(key("no"), nil)
	})
}

func changes(t *trial) {
	update := func(t *trial, changes ...table.Change) { t.Helper(); t.done(table.Update(key("a"), changes)) }
	t.says("an update creates a missing item, with only its key if it only removes members", func(t *trial) {
		t.done(table.Update(key("only"), []table.Change{table.Remove(at("x")), table.RemoveFromSet(at("s"), "a")}))
		t.holds(key("only"), item("only", nil))
		update(t, table.Set(at("m"), map[string]any{}), table.Add(at("n"), 5), table.Append(at("l"), "a"), table.AddToSet(at("s"), "a", "b"))
		t.holds(key("a"), item("a", table.Item{"m": object(table.Item{}), "n": number("5"), "l": list(text("a")), "s": set("a", "b")}))
	})
	t.says("changes members of items and of maps", func(t *trial) {
		update(t, table.Set(at("m", "k"), "v"), table.Add(at("m", "n"), -2), table.Append(at("m", "l"), 1), table.RemoveFromSet(at("s"), "a", "c"), table.Append(at("l"), "b", 2))
		t.holds(key("a"), item("a", table.Item{
			"m": object(table.Item{"k": text("v"), "n": number("-2"), "l": list(number("1"))}),
			"n": number("5"), "l": list(text("a"), text("b"), number("2")), "s": set("b"),
		}))
	})
	t.says("SetIfAbsent keeps an existing value; an empty set is removed", func(t *trial) {
		update(t, table.SetIfAbsent(at("n"), 1), table.SetIfAbsent(at("o"), 1), table.RemoveFromSet(at("s"), "b"), table.Remove(at("m", "l")), table.Remove(at("l")))
		t.holds(key("a"), item("a", table.Item{"m": object(table.Item{"k": text("v"), "n": number("-2")}), "n": number("5"), "o": number("1")}))
	})
	t.says("a change of the wrong type is invalid, and no change is made", func(t *trial) {
		for i, c := range []table.Change{
			table.Set(at("no", "k"), 1), table.Remove(at("no", "k")), table.Set(at("n", "k"), 1), table.SetIfAbsent(at("no", "k"), 1),
			table.Add(at("m"), 1), table.Append(at("n"), 1), table.AddToSet(at("n"), "a"), table.RemoveFromSet(at("n"), "a"), table.Add(at("no", "n"), 1),
		} {
			if _, err := t.Write(t.ctx(), table.Update(key("a"), []table.Change{table.Set(at("new"), 1), c})); !errors.Is(err, table.ErrInvalid) {
				t.Errorf("%d: %v", i, err)
			}
		}
		t.finds(table.Update(key("none"), []table.Change{table.Set(at("no", "k"), 1)}, table.ItemExists()), nil)
		t.finds(table.Update(key("a"), []table.Change{table.Set(at("no", "k"), 1)}, table.Exists(at("new"))), item("a", table.Item{
			"m": object(table.Item{"k": text("v"), "n": number("-2")}), "n": number("5"), "o": number("1"),
		}))
	})
}

func numbers(t *trial) {
	for in, want := range map[string]string{
		"1E2": "100", "1.0": "1", "-0": "0", "007": "7", ".5": "0.5", "5.": "5", "+5": "5", "-1.50": "-1.5", "1e-10": "0.0000000001",
		"12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
	} {
		t.says(fmt.Sprintf("%s is written %s", in, want), func(t *trial) {
			t.done(table.Put(item("n", table.Item{"n": number(in)})))
			t.holds(key("n"), item("n", table.Item{"n": number(want)}))
		})
	}
	for _, in := range []string{"", "a", " 1", "0x1", "1_0", "NaN", "1e126", "1e-131", "123456789012345678901234567890123456789"} {
		t.says(fmt.Sprintf("%q is no number", in), func(t *trial) {
			t.fails(table.Put(item("n", table.Item{"n": number(in)})), table.ErrInvalid)
		})
	}
	t.says("a sum has at most 38 digits", func(t *trial) {
		t.done(table.Put(item("n", table.Item{"n": number("99999999999999999999999999999999999999")})))
		t.done(table.Update(key("n"), []table.Change{table.Add(table.Path{"n"}, 1)}))
		t.holds(key("n"), item("n", table.Item{"n": number("100000000000000000000000000000000000000")}))
		t.fails(table.Update(key("n"), []table.Change{table.Add(table.Path{"n"}, 1)}), table.ErrInvalid)
	})
}

func contexts(t *trial) {
	t.says("a request with an ended context is not carried out", func(t *trial) {
		ctx := ended(t)
		_, err := t.Write(ctx, table.Put(item("a", nil)))
		_, also := t.Transact(ctx, table.Transaction{Writes: []table.Write{table.Put(item("a", nil))}})
		_, batch := t.BatchWrite(ctx, []table.Write{table.Put(item("a", nil))})
		_, _, get := t.Get(ctx, key("a"), table.Reading{})
		_, _, gets := t.BatchGet(ctx, []table.Key{key("a")}, table.Reading{})
		_, query := t.Query(ctx, table.Query{Partition: "p"})
		for i, err := range []error{err, also, batch, get, gets, query} {
			if !errors.Is(err, context.Canceled) || errors.Is(err, table.ErrUndecided) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
	t.says("nothing was done", func(t *trial) { t.holds(key("a"), nil) })
}

func ended(t *trial) context.Context {
	ctx, cancel := context.WithCancel(t.ctx())
	cancel()
	return ctx
}

func at(names ...string) table.Path { return names }
