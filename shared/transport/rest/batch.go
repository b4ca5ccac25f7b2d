package rest

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

// eventOverhead is roughly by how much a stored event is longer than the event
// sent.
const eventOverhead = 512

// Events reads the events of a batch without the partial ones, and their JSON
// pointers. With identify and an idempotency key each gets an id, so that a second try
// is a redelivery.
func (c *Call) Events(items []json.RawMessage, identify bool) (events []session.Event, pointers []string, err error) {
	var broken fault.Broken
	seen := map[string]bool{}
	for i, raw := range items {
		at := "/events/" + strconv.Itoa(i)
		e, err := session.ParseEvent(raw, at)
		if !broken.Add(err) || e.Partial {
			continue
		}
		broken.Add(e.CheckNew(at))
		e, err = c.Permission.Admit(e, at)
		broken.Add(err)
		if e.ID == "" && c.Key != "" && identify {
			if e.ID, err = c.DerivedID(fmt.Sprintf("event %d", i)); err != nil {
				return nil, nil, err
			}
		}
		if e.ID != "" && seen[e.ID] {
			broken.Add(FieldFault(fault.Invalid, at+"/id", "is the id of another event of the batch"))
		}
		seen[e.ID] = true
		events, pointers = append(events, e), append(pointers, at)
	}
	return events, pointers, broken.Err()
}

// AnswerWillFit refuses a batch whose answer, the events themselves, would
// exceed the size limit, before it is stored.
func (c *Call) AnswerWillFit(events int) error {
	room := answerLimit - events*eventOverhead
	if encodedSize(c.JSON) <= room {
		return nil
	}
	if AcceptsGzip(c.Header) {
		packed, err := compress(c.JSON)
		if err != nil {
			return err
		}
		if encodedSize(packed) <= room {
			return nil
		}
	}
	return fault.New(fault.AnswerTooLarge, "the answer, which repeats the events, would be larger than 6 MB; "+
		"send Accept-Encoding: gzip or fewer events at once")
}
