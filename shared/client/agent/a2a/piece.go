package a2a

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
)

// piece is a part of an item: text that may still grow, or another part as the
// event will have it.
type piece struct {
	text    string
	thought bool
	isText  bool
	part    *content.Part      // of other parts
	call    *content.CallDelta // of a function call
	waits   bool               // for its response
	meta    string             // JSON of the part's remaining metadata; "" for none
}

// json returns the piece as a part of an event's content.
func (p piece) json() content.Part {
	var part content.Part
	if p.part != nil {
		part = *p.part
	}
	if p.isText {
		part.Text = &p.text
	}
	part.Thought, part.Metadata = p.thought, json.RawMessage(p.meta)
	return part
}

// key identifies all of a piece but its text.
func (p piece) key() string {
	p.text = ""
	raw, err := json.Marshal(jsonx.Canonical(mustJSON(p.json())))
	if err != nil {
		return p.meta
	}
	return string(raw)
}

func mustJSON(v any) []byte {
	raw, err := jsonx.Marshal(v)
	if err != nil { // the values were JSON
		return nil
	}
	return raw
}

// beyond returns what a piece has more than an earlier state of it; ok is false if it
// is not a continuation of that.
func (p piece) beyond(before piece) (more string, ok bool) {
	if p.key() != before.key() {
		return "", false
	}
	return strings.CutPrefix(p.text, before.text)
}

func (p piece) size() int {
	n := len(p.text) + len(p.meta)
	if p.part != nil {
		n += len(mustJSON(p.part))
	}
	return n
}

// joined appends pieces. Texts of one kind become one, since an agent that streams
// splits them anywhere.
func joined(pieces []piece, more ...piece) []piece {
	out := append([]piece(nil), pieces...)
	for _, p := range more {
		if n := len(out) - 1; n >= 0 && p.isText && out[n].isText && p.key() == out[n].key() {
			out[n].text += p.text
			continue
		}
		out = append(out, p)
	}
	return out
}

// without returns what pieces have beyond those said before.
func without(said, pieces []piece) []piece {
	var out []piece
	used := make([]bool, len(said))
next:
	for _, p := range pieces {
		for i, before := range said {
			if used[i] {
				continue
			}
			if more, ok := p.beyond(before); ok {
				used[i] = true
				if more == "" {
					continue next
				}
				p.text = more
				break
			}
		}
		out = append(out, p)
	}
	return out
}

// digest identifies what pieces say.
func digest(pieces []piece) string {
	sum := sha256.New()
	for _, p := range pieces {
		sum.Write([]byte(p.key() + "\x00" + p.text + "\x00")) // never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
