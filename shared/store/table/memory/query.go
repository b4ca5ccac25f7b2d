package memory

import (
	"context"
	"slices"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// Query reads a page of a query.
func (e *Engine) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := firstError(ctx, e.schema.ValidateQuery(q)); err != nil {
		return table.Page{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	from := e.visible(q.Consistent)
	var page table.Page
	size := 0
	for _, p := range from.inRange(q) {
		item := from.items[p.key]
		if index, ok := e.schema.Index(q.Index); ok {
			item = entry(index, item)
		}
		size += value.Size(item)
		page.Items = append(page.Items, project(item, q.Members))
		if len(page.Items) == q.Limit || size > table.MaxPageBytes {
			page.Next = e.positionOf(q.Index, item)
			break
		}
	}
	page.Units.Read = table.ReadUnits(size, q.Consistent)
	return page, nil
}

// positionOf returns the position of an item in the table or an index.
func (e *Engine) positionOf(name table.Index, item table.Item) table.Position {
	members := []string{table.PK, table.SK}
	if index, ok := e.schema.Index(name); ok {
		members = append(members, index.Partition, index.Sort)
	}
	return table.Position(project(item, members))
}

// inRange returns the places that a query reads, in its order.
func (s *state) inRange(q table.Query) []place {
	all := s.orders[q.Index][q.Partition]
	begin, end := 0, len(all)
	if q.From != "" {
		begin, _ = slices.BinarySearchFunc(all, place{sort: q.From}, comparePlaces)
	}
	if q.To != "" {
		end, _ = slices.BinarySearchFunc(all, place{sort: q.To + "\x00"}, comparePlaces)
	}
	if q.After != nil {
		begin, end = s.after(q, all, begin, end)
	}
	found := slices.Clone(all[min(begin, end):end])
	if q.Descending {
		slices.Reverse(found)
	}
	return found
}

// after limits a range to the places after a position, which need not exist.
func (s *state) after(q table.Query, all []place, begin, end int) (int, int) {
	_, sort := s.schema.KeyMembers(q.Index)
	last := place{
		table.Text(table.Item(q.After), sort),
		table.Key{PK: table.Text(table.Item(q.After), table.PK), SK: table.Text(table.Item(q.After), table.SK)},
	}
	at, exists := slices.BinarySearchFunc(all, last, comparePlaces)
	switch {
	case q.Descending:
		end = min(end, at)
	case exists:
		begin = max(begin, at+1)
	default:
		begin = max(begin, at)
	}
	return begin, end
}
