package proxy

import (
	"context"
	"encoding/json"
	"net/http"
)

// unprocessedMember is the member of a batch's answer that lists the unprocessed items.
func (c *call) unprocessedMember() string {
	if c.operation == "BatchGetItem" {
		return "UnprocessedKeys"
	}
	return "UnprocessedItems"
}

// batch is the request by table: writes are a list, reads an object with a list.
type batch map[string]json.RawMessage

func (c *call) batch() (whole map[string]json.RawMessage, items batch) {
	if json.Unmarshal(c.body, &whole) != nil || json.Unmarshal(whole["RequestItems"], &items) != nil {
		return nil, nil
	}
	return whole, items
}

// isSplittable reports whether a part of the batch can be left over: it must have one
// table with more than one item.
func (c *call) isSplittable() bool {
	_, items := c.batch()
	if len(items) != 1 {
		return false
	}
	for _, raw := range items {
		list, _, ok := elements(raw)
		return ok && len(list) > 1
	}
	return false
}

// elements returns the items of a table, and the object around them, if there is
// one.
func elements(raw json.RawMessage) (list []json.RawMessage, around map[string]json.RawMessage, ok bool) {
	if json.Unmarshal(raw, &list) == nil {
		return list, nil, true
	}
	if json.Unmarshal(raw, &around) != nil || json.Unmarshal(around["Keys"], &list) != nil {
		return nil, nil, false
	}
	return list, around, true
}

// wrap is the inverse of elements.
func wrap(list []json.RawMessage, around map[string]json.RawMessage) (json.RawMessage, error) {
	raw, err := json.Marshal(list)
	if err != nil || around == nil {
		return raw, err
	}
	copied := map[string]json.RawMessage{}
	for name, value := range around {
		copied[name] = value
	}
	copied["Keys"] = raw
	return json.Marshal(copied)
}

// partial has the engine process the first items, and returns the others as
// unprocessed.
func (c *call) partial(ctx context.Context, rw http.ResponseWriter) {
	got, err := c.half(ctx)
	if err != nil {
		panic(http.ErrAbortHandler) // like a service that does not answer
	}
	got.write(rw)
}

func (c *call) half(ctx context.Context) (answer, error) {
	whole, items := c.batch()
	rest := batch{}
	for table, raw := range items {
		list, around, _ := elements(raw)
		cut := 1 + int(c.severity*float64(len(list)-1))
		var err error
		if items[table], err = wrap(list[:cut], around); err != nil {
			return answer{}, err
		}
		if rest[table], err = wrap(list[cut:], around); err != nil {
			return answer{}, err
		}
	}
	var err error
	if whole["RequestItems"], err = json.Marshal(items); err != nil {
		return answer{}, err
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return answer{}, err
	}
	got, err := c.proxy.forward(ctx, c.request, body)
	if err != nil || got.status != http.StatusOK {
		return got, err
	}
	return got.with(c.unprocessedMember(), rest)
}

// with returns the answer with an additional member.
func (a answer) with(name string, value any) (answer, error) {
	var out map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &out); err != nil {
		return a, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return a, err
	}
	out[name] = raw
	if a.body, err = json.Marshal(out); err != nil {
		return a, err
	}
	return a.withChecksum(), nil
}
