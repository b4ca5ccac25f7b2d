package pageclient

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Cursor is a position.
type Cursor struct{ Epoch, Seq, Offset int64 }

func (c Cursor) String() string { return fmt.Sprintf("%d.%d.%d", c.Epoch, c.Seq, c.Offset) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cursor) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "%d.%d.%d", &c.Epoch, &c.Seq, &c.Offset); err != nil {
		return fmt.Errorf("read the cursor %q: %w", text, err)
	}
	return nil
}

// message is a message about a session.
type message struct {
	Type   string  `json:"type"`
	Cursor Cursor  `json:"cursor"`
	Prev   *Cursor `json:"prev"`

	Status string          `json:"status"`
	ItemID string          `json:"item_id"`
	Item   json.RawMessage `json:"item"`
	Offset int64           `json:"offset"`
	Delta  json.RawMessage `json:"delta"`
	ToSeq  int64           `json:"to_seq"`
	Reason string          `json:"reason"`

	queue
	Truncated bool `json:"truncated"`

	item *Item // of Item
}

// queue holds the inputs that wait, in a message or a thread.
type queue struct {
	Queued  []json.RawMessage `json:"queued"`
	Version int64             `json:"queue_version"`
}

func parse(text []byte) (message, error) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read a message: %w", err)
	}
	if m.Prev == nil {
		return m, fmt.Errorf("a message without prev: %.300s", text) //nolint:err113 // a test shows it
	}
	if m.Item == nil {
		return m, nil
	}
	var err error
	if m.item, err = newItem(m.Item, m.Offset); err != nil {
		return m, err
	}
	m.ItemID = m.item.ID
	return m, nil
}

// object decodes a JSON object, with numbers as text.
func object(raw []byte) (map[string]any, error) {
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("read an object: %w", err)
	}
	return out, nil
}

// ReadThread implements rule 1 with the answers of GET …/thread.
func (s *Session) ReadThread(pages ...[]byte) error {
	s.Items = nil
	for _, page := range pages {
		var answer struct {
			Data struct {
				Status  string            `json:"status"`
				Items   []json.RawMessage `json:"items"`
				Cursor  Cursor            `json:"cursor"`
				Offsets map[string]int64  `json:"offsets"`
				queue
			} `json:"data"`
		}
		if err := json.Unmarshal(page, &answer); err != nil {
			return fmt.Errorf("read the thread: %w", err)
		}
		for _, raw := range answer.Data.Items {
			it, err := newItem(raw, 0)
			if err != nil {
				return err
			}
			it.Offset = answer.Data.Offsets[it.ID]
			s.Items = append(s.Items, it)
		}
		s.Status, s.at = answer.Data.Status, answer.Data.Cursor
		if err := s.takeQueue(answer.Data.queue); err != nil {
			return err
		}
	}
	begin := s.at
	s.begin = &begin
	if n := len(s.Items); n > 0 && s.Items[n-1].Seq > s.at.Seq {
		s.at.Seq, s.at.Offset = s.Items[n-1].Seq, 0
	}
	s.statusAt, s.needsThread = s.at.Seq, false
	s.tryHeld()
	return nil
}
