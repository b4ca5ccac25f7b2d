package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/delivery"
)

// A slow target that is gone keeps no lane, although it was slow until then.
func TestDesk_target_that_is_gone(t *testing.T) {
	t.Parallel()
	h := newHall()
	h.answers = func(string) (int, time.Duration) { return 200, 8 * time.Second }
	for i := range 3 {
		h.mustReceive(t, h.message("slow", i))
	}
	h.desk.Courier.Makers = map[delivery.Kind]delivery.Maker{kind: nobody{h}}
	for len(h.wakes) > 0 {
		w := h.wakes[0]
		h.wakes, h.now = h.wakes[1:], w.at
		if err := h.desk.Turn(t.Context(), w.wake); err != nil {
			t.Fatal(err)
		}
	}
	parked := 0
	for _, lane := range h.parked {
		parked += len(lane)
	}
	if len(h.lanes) > 0 || parked > 0 || len(h.posts) != 1 {
		t.Errorf("left are %v and %d deliveries, after posts %v", h.lanes, parked, h.posts)
	}
}

// nobody is where targets are gone.
type nobody struct{ *hall }

func (nobody) Messages(context.Context, delivery.Delivery) ([]delivery.Message, error) {
	return nil, delivery.ErrNothing
}
