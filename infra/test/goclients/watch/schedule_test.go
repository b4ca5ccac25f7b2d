package watch_test

import (
	"encoding/json"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// schedule is a recording of the inputs of a state and the results. Another client
// with the same rules must produce the same results.
type schedule struct {
	Steps []step   `json:"steps"`
	Final shownNow `json:"final"`
}

type step struct {
	Op    string            `json:"op"`
	Now   int64             `json:"now"`
	Frame json.RawMessage   `json:"frame,omitempty"`
	Pages []json.RawMessage `json:"pages,omitempty"`

	NeedsThread bool   `json:"needs_thread"`
	RepairAt    *int64 `json:"repair_at"`
	Cursor      string `json:"cursor"`
}

// shownNow is the session shown by a client, as JSON.
type shownNow struct {
	Items   json.RawMessage `json:"items"`
	Status  string          `json:"status"`
	RunID   string          `json:"run_id"`
	Error   json.RawMessage `json:"error"`
	Kept    bool            `json:"kept"`
	Epoch   int64           `json:"epoch"`
	Deleted bool            `json:"deleted"`

	Queued       json.RawMessage `json:"queued"`
	QueueVersion int64           `json:"queue_version"`
}

func (s *schedule) apply(w *world, frame []byte) { s.add(w, step{Op: "apply", Frame: frame}) }
func (s *schedule) replace(w *world, pages []json.RawMessage) {
	s.add(w, step{Op: "replace", Pages: pages})
}
func (s *schedule) lost(w *world)      { s.add(w, step{Op: "lost"}) }
func (s *schedule) repairing(w *world) { s.add(w, step{Op: "repairing"}) }

func (s *schedule) add(w *world, st step) {
	if s == nil {
		return
	}
	st.Now = w.now.UnixMilli()
	st.NeedsThread, st.Cursor = w.state.NeedsThread(), w.state.Cursor().String()
	if at, due := w.state.RepairAt(); due {
		ms := at.UnixMilli()
		st.RepairAt = &ms
	}
	s.Steps = append(s.Steps, st)
}

func shown(s view.Session) shownNow {
	items, inputs := []byte("[]"), []byte("[]")
	if len(s.Items) > 0 {
		items = mustJSON(s.Items)
	}
	if len(s.Queued) > 0 {
		inputs = mustJSON(s.Queued)
	}
	return shownNow{
		Items: items, Status: string(s.Status), RunID: s.RunID, Error: mustJSON(s.Error), Kept: s.Kept, Epoch: s.Epoch, Deleted: s.Deleted,
		Queued: inputs, QueueVersion: s.QueueVersion,
	}
}

func mustText(v any) string {
	raw, err := jsonx.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
