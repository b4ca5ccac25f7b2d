package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/infra/test/e2e/pick"
)

// Frame is a message to a watcher, over any transport.
type Frame struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id"`
	RequestID string `json:"request_id"`
	Cursor    string `json:"cursor"`
	Text      []byte `json:"-"` // the whole message
}

// readFrame decodes a message, which must conform to infra/asyncapi.yaml.
func readFrame(messages *contract.Messages, text []byte) (Frame, error) {
	f := Frame{Text: text}
	if err := messages.Check(text); err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("read a message: %w", err)
	}
	return f, nil
}

// Str returns the string at a path of the message, "" if there is none.
func (f Frame) Str(tb testing.TB, path string) string {
	tb.Helper()
	text, err := pick.Text(f.Text, path)
	if err != nil {
		tb.Fatalf("%v\n%s", err, f.Text)
	}
	return text
}
