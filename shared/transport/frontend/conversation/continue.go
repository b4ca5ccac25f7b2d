package conversation

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/domain/session"
)

// ContinuedID returns the id of the run that a request begins. It is the request's own,
// unless that is the id of a run which has begun without the request's answers to calls:
// CopilotKit answers a question under the id of the run that asked it. Such answers begin
// a run of their own, whose id is derived from both, so that the same request finds it
// again. Like Plan it may return ErrOlder.
func (in Input) ContinuedID(h History) (string, error) {
	asked := slices.ContainsFunc(h.Events, func(e session.Event) bool { return e.InvocationID == in.RunID })
	if !asked || len(in.Answers) == 0 {
		return in.RunID, nil
	}
	t := h.Thread()
	if !h.Begins(in.RunID) && h.Partial || !t.certainCalls() {
		return "", ErrOlder
	}
	own := t.answeredBy(in.RunID)
	if !slices.ContainsFunc(in.Answers, func(a Answer) bool { return !own[a.CallID] }) {
		return in.RunID, nil
	}
	hash := sha256.New()
	for _, text := range append([]string{in.RunID}, in.callIDs()...) {
		hash.Write([]byte(text + "\x00")) // never fails
	}
	return "answer-" + hex.EncodeToString(hash.Sum(nil)[:16]), nil
}

// Digest returns a text of 32 characters that identifies texts.
func Digest(texts ...string) string {
	hash := sha256.New()
	for _, text := range texts {
		hash.Write([]byte(strconv.Itoa(len(text)) + ":" + text)) // never fails
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// callIDs returns the calls that the request answers, sorted.
func (in Input) callIDs() []string {
	var ids []string
	for _, a := range in.Answers {
		ids = append(ids, a.CallID)
	}
	slices.Sort(ids)
	return ids
}

// answeredBy returns the calls, by their ids, that an invocation's events answer.
func (t *Thread) answeredBy(invocation string) map[string]bool {
	out := map[string]bool{}
	for _, e := range t.events {
		if e.InvocationID != invocation {
			continue
		}
		for _, p := range t.view.Pieces(e) {
			if p.Kind == PieceResponse && p.CallID != "" {
				out[p.CallID] = true
			}
		}
	}
	return out
}
