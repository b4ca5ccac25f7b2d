package watching

import (
	"context"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/store/table"
)

// A reader may get the messages of a session without the output of a run that is in
// progress. The run is noted then: a reader that asks for the stream when the run has ended
// gets its output.

// noteTime is how long a note counts: a page asks for the stream right after the messages.
const noteTime = 15 * time.Minute

// note is the run of a session. The table may take days to remove an expired one, so
// readers check the time themselves.
type note struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Run     string `dynamodbav:"r"`
	Expires int64  `dynamodbav:"expires"` // epoch seconds
}

func noteKey(sessionID string) table.Key { return table.NewKey("RU#"+sessionID, "RUN") }

// NoteUnseen notes a run of a session, instead of an earlier one.
func (s *Store) NoteUnseen(ctx context.Context, sessionID, runID string) error {
	k := noteKey(sessionID)
	err := s.DB.Put(ctx, note{PK: k.PK, SK: k.SK, Run: runID, Expires: s.Now().Add(noteTime).Unix()})
	if err != nil {
		return fmt.Errorf("note a run whose output was not shown: %w", err)
	}
	return nil
}

// Unseen returns the run that was noted of a session; "" without one.
func (s *Store) Unseen(ctx context.Context, sessionID string) (string, error) {
	var n note
	found, err := s.DB.Get(ctx, noteKey(sessionID), &n)
	if err != nil {
		return "", fmt.Errorf("read which run's output was not shown: %w", err)
	}
	if !found || n.Expires <= s.Now().Unix() {
		return "", nil
	}
	return n.Run, nil
}

// ForgetUnseen removes the note of a session.
func (s *Store) ForgetUnseen(ctx context.Context, sessionID string) error {
	k := noteKey(sessionID)
	if err := s.DB.Delete(ctx, k); err != nil {
		return fmt.Errorf("forget whose output was not shown: %w", err)
	}
	return nil
}
