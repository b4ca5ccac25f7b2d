package openresponses

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// Sizes of pages, as in OpenAI's API.
const (
	defaultPage = 20
	maxPage     = 100
)

// listQuery selects a page of items.
type listQuery struct {
	limit     int
	ascending bool
	after     string // the id of an item; "" begins the list
}

func parseListQuery(r *http.Request) (q listQuery, err error) {
	values := r.URL.Query()
	q = listQuery{limit: defaultPage, after: values.Get("after")}
	if text := values.Get("limit"); text != "" {
		if q.limit, err = strconv.Atoi(text); err != nil || q.limit < 1 || q.limit > maxPage {
			return q, fault.Field(fault.Malformed, "limit", "must be an integer from 1 to %d", maxPage)
		}
	}
	switch values.Get("order") {
	case "", "desc":
	case "asc":
		q.ascending = true
	default:
		return q, fault.Field(fault.Malformed, "order", "must be asc or desc")
	}
	if _, ok := responsesconvert.SeqOf(q.after); q.after != "" && !ok && !responsesconvert.Waits(q.after) {
		return q, errAfter()
	}
	return q, nil
}

func errAfter() error { return fault.Field(fault.Malformed, "after", "must be the id of an item") }

// list is a page of items.
type list struct {
	Object  string                  `json:"object"`
	Data    []responsesconvert.Item `json:"data"`
	FirstID *string                 `json:"first_id"`
	LastID  *string                 `json:"last_id"`
	HasMore bool                    `json:"has_more"`
}

// page returns the page of all items, which are in order.
func (q listQuery) page(items []responsesconvert.Item) list {
	items = slices.Clone(items)
	after := slices.IndexFunc(items, func(it responsesconvert.Item) bool { return it.ID() == q.after })
	for i, it := range items { // the last one, since an input follows what it took over
		if responsesconvert.Begun(it.ID(), q.after) {
			after = i
		}
	}
	switch {
	case after < 0:
	case q.ascending:
		items = items[after+1:]
	default:
		items = items[:after]
	}
	if !q.ascending {
		slices.Reverse(items)
	}
	return q.first(items, false)
}

// first returns the beginning of items as a page; more reports that there are others
// after them.
func (q listQuery) first(items []responsesconvert.Item, more bool) list {
	out := list{Object: "list", Data: items, HasMore: more}
	if len(items) > q.limit {
		out.Data, out.HasMore = items[:q.limit], true
	}
	if n := len(out.Data); n > 0 {
		first, last := out.Data[0].ID(), out.Data[n-1].ID()
		out.FirstID, out.LastID = &first, &last
	}
	if out.Data == nil {
		out.Data = []responsesconvert.Item{}
	}
	return out
}
