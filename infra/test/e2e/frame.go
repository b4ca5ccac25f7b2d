package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/infra/test/e2e/pick"
)

// Frame is a message that the system sent to somebody who watches, by whatever
// transport.
type Frame struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id"`
	RequestID string `json:"request_id"`
	Cursor    string `json:"cursor"`
	Text      []byte `json:"-"` // all of it
}

// readFrame reads a message that must be as infra/asyncapi.yaml has it.
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

// Str is the text at a path of the message, "" where nothing is.
func (f Frame) Str(tb testing.TB, path string) string {
	tb.Helper()
	text, err := pick.Text(f.Text, path)
	if err != nil {
		tb.Fatalf("%v\n%s", err, f.Text)
	}
	return text
}
