package rethread

import (
	"context"
	"iter"
	"slices"
	"strings"
)

// Answer is the answer to a question.
type Answer struct {
	Text string // what the agent said, without its thoughts
	Run  Run    // it is over, and may have failed
}

// Ask starts a run with a text as its input, calls said with each piece of the answer as
// it comes, unless said is nil, and returns the answer when the run is over.
func (c *Client) Ask(ctx context.Context, sessionID, text string, said func(piece string), opts ...Option) (Answer, error) {
	started, err := c.Runs.Start(ctx, sessionID, RunRequest{Input: Input(text)}, opts...)
	if err != nil {
		return Answer{}, err
	}
	var whole strings.Builder
	for piece, err := range c.Runs.Stream(ctx, sessionID, started.RunID) {
		if err != nil {
			return Answer{Text: whole.String()}, err
		}
		whole.WriteString(piece)
		if said != nil {
			said(piece)
		}
	}
	r, err := c.Runs.Get(ctx, sessionID, started.RunID)
	return Answer{Text: whole.String(), Run: r}, err
}

// Wait waits until a run is over and returns it; it may have failed.
func (r *Runs) Wait(ctx context.Context, sessionID, runID string) (Run, error) {
	for _, err := range r.Stream(ctx, sessionID, runID) {
		if err != nil {
			return Run{}, err
		}
	}
	return r.Get(ctx, sessionID, runID)
}

// Stream yields what the agent of a run says, piece by piece and without its thoughts,
// until the run is over; the first piece is what it has said so far. A run that waits is
// waited for. The sequence ends with an error as that of Watch does.
func (r *Runs) Stream(ctx context.Context, sessionID, runID string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		shown := ""
		for session, err := range (&Client{transport: r.t}).Watch(ctx, sessionID) {
			if err != nil {
				yield("", err)
				return
			}
			before := shown
			shown = session.saidBy(runID)
			if piece, grown := strings.CutPrefix(shown, before); grown && piece != "" && !yield(piece, nil) {
				return
			}
			over, err := r.isOver(ctx, session, sessionID, runID)
			if err != nil {
				yield("", err)
			}
			if over || err != nil {
				return
			}
		}
	}
}

// isOver reports whether a run is over. While it works or waits, the session says so.
func (r *Runs) isOver(ctx context.Context, session Watched, sessionID, runID string) (bool, error) {
	works := session.Status == InProgress && session.RunID == runID
	waits := slices.ContainsFunc(session.Queued, func(q QueuedInput) bool { return q.RunID == runID })
	if works || waits {
		return false, nil
	}
	found, err := r.Get(ctx, sessionID, runID)
	return found.EndedTime != nil, err
}

// saidBy returns the text of a run's answer so far.
func (w Watched) saidBy(runID string) string {
	var out strings.Builder
	for _, e := range w.Items {
		if e.InvocationID == runID && e.Content != nil && e.Content.Role != "user" {
			out.WriteString(e.Content.Text())
		}
	}
	return out.String()
}
