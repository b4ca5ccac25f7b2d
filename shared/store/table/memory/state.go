package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/store/table"
)

// state is the contents of a table at one time. Its items are never changed, only
// replaced.
type state struct {
	schema table.Schema
	items  map[table.Key]table.Item
	// orders holds the sorted partitions of the table and the indexes.
	orders map[table.Index]map[string][]place
}

// place is the place of an item in a partition.
type place struct {
	sort string
	key  table.Key
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.sort, b.sort), cmp.Compare(a.key.PK, b.key.PK), cmp.Compare(a.key.SK, b.key.SK))
}

func newState(schema table.Schema) state {
	orders := map[table.Index]map[string][]place{"": {}}
	for _, index := range schema.Indexes {
		orders[index.Name] = map[string][]place{}
	}
	return state{schema: schema, items: map[table.Key]table.Item{}, orders: orders}
}

// clone returns a separate state with the same items.
func (s *state) clone() state {
	c := state{schema: s.schema, items: maps.Clone(s.items), orders: make(map[table.Index]map[string][]place, len(s.orders))}
	for name, order := range s.orders {
		c.orders[name] = make(map[string][]place, len(order))
		for partition, places := range order {
			c.orders[name][partition] = slices.Clone(places)
		}
	}
	return c
}

// put replaces an item, or removes it.
func (s *state) put(w written) {
	before := s.items[w.key]
	for name, order := range s.orders {
		was, stood := s.placeIn(name, w.key, before)
		is, stands := s.placeIn(name, w.key, w.item)
		if stood && stands && was == is {
			continue
		}
		if stood {
			remove(order, was)
		}
		if stands {
			insert(order, is)
		}
	}
	if w.item == nil {
		delete(s.items, w.key)
		return
	}
	s.items[w.key] = w.item
}

// inPartition is a place and its partition.
type inPartition struct {
	partition string
	place
}

// placeIn returns the place of an item in the table or an index, if it has one.
func (s *state) placeIn(name table.Index, k table.Key, item table.Item) (inPartition, bool) {
	partition, sort := s.schema.KeyMembers(name)
	p := inPartition{table.Text(item, partition), place{table.Text(item, sort), k}}
	return p, p.partition != "" && p.sort != ""
}

func insert(order map[string][]place, p inPartition) {
	at, _ := slices.BinarySearchFunc(order[p.partition], p.place, comparePlaces)
	order[p.partition] = slices.Insert(order[p.partition], at, p.place)
}

func remove(order map[string][]place, p inPartition) {
	at, ok := slices.BinarySearchFunc(order[p.partition], p.place, comparePlaces)
	if !ok {
		return
	}
	order[p.partition] = slices.Delete(order[p.partition], at, at+1)
	if len(order[p.partition]) == 0 {
		delete(order, p.partition)
	}
}

// entry returns an index's projection of an item; nil if the index leaves it out.
func entry(index table.IndexSchema, item table.Item) table.Item {
	if table.Text(item, index.Partition) == "" || table.Text(item, index.Sort) == "" {
		return nil
	}
	out := table.Item{}
	for _, name := range index.Members() {
		if v, ok := item[name]; ok {
			out[name] = v
		}
	}
	return out
}
