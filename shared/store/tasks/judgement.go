package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Judgement records who marked a task with feedback.
type Judgement struct {
	Judge string `dynamodbav:"fu,omitempty"`
	// Unjudged are digests of feedback whose users were erased: a client that has
	// read it before must not save it again.
	Unjudged []string `dynamodbav:"fx,omitempty"`
}

// DigestOfMark returns the digest that is kept of erased feedback.
func DigestOfMark(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}

// JudgedBy records who marked a task last.
func (j Judgement) JudgedBy(user, kind, text string) Judgement {
	left := slices.DeleteFunc(slices.Clone(j.Unjudged), func(d string) bool { return d == DigestOfMark(kind, text) })
	return Judgement{Judge: user, Unjudged: left}
}

// withoutErased returns a task's metadata without feedback of erased users.
func (j Judgement) withoutErased(metadata json.RawMessage) (json.RawMessage, error) {
	if len(j.Unjudged) == 0 {
		return metadata, nil
	}
	next, _, err := WithoutMark(metadata, func(digest string) bool { return slices.Contains(j.Unjudged, digest) })
	return next, err
}

// WithoutMark removes the feedback from a task's metadata if meant selects it, and
// reports whether it did.
func WithoutMark(metadata json.RawMessage, meant func(digest string) bool) (json.RawMessage, bool, error) {
	var all map[string]json.RawMessage
	var mark struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	known := !jsonx.IsNull(metadata) && json.Unmarshal(metadata, &all) == nil && !jsonx.IsNull(all["feedback"]) &&
		json.Unmarshal(all["feedback"], &mark) == nil
	if !known || !meant(DigestOfMark(mark.Type, mark.Text)) {
		return metadata, false, nil
	}
	delete(all, "feedback")
	next, err := jsonx.Marshal(all)
	return next, true, err
}
