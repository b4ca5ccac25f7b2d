package client

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// ParseMessage is watch.ParseMessage.
func ParseMessage(frame []byte) (watch.Message, error) { return watch.ParseMessage(frame) }

// ParseThread reads a page of GET thread; next is the cursor of the page after
// it, empty at the end.
func ParseThread(body []byte) (page Thread, next string, err error) {
	var in struct {
		Data struct {
			Status session.Status    `json:"status"`
			Items  []json.RawMessage `json:"items"`
			Cursor watch.Cursor      `json:"cursor"`
			Run    *run.Run          `json:"run"`

			Offsets map[string]int64 `json:"offsets"`
		} `json:"data"`
		Meta struct {
			NextCursor string `json:"next_cursor"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Thread{}, "", fmt.Errorf("read a thread: %w", err)
	}
	page = Thread{Cursor: in.Data.Cursor, Status: in.Data.Status, Offsets: in.Data.Offsets}
	if in.Data.Run != nil {
		page.RunID, page.Error = in.Data.Run.ID, in.Data.Run.Error
	}
	for _, raw := range in.Data.Items {
		e, err := watch.ParseItem(raw)
		if err != nil {
			return Thread{}, "", fmt.Errorf("read a thread's item: %w", err)
		}
		page.Items = append(page.Items, e)
	}
	return page, in.Meta.NextCursor, nil
}
