package session

import (
	"bytes"
	"encoding/binary"
)

// folds begins the encoding of an outline with parts of higher levels. Elsewhere it would be
// a number of ranges that no item can hold.
const folds = "\xff\xff\x7f"

// Encode encodes the outline in about eight bytes for each part: the header of a session
// contains one, and is read with every request. Ranges alone are encoded as a Timeline is.
func (o Outline) Encode() []byte {
	n := 0
	for n < len(o) && o[n].Level > 0 {
		n++
	}
	rest := o[n:].ranges().Encode()
	if n == 0 {
		return rest
	}
	out := binary.AppendUvarint([]byte(folds), uint64(n))
	var was Part
	for _, p := range o[:n] {
		out = binary.AppendUvarint(out, uint64(p.Level)) //nolint:gosec // none is negative
		if out = append(out, byte(0)); p.Log != was.Log {
			out = append(binary.AppendUvarint(out[:len(out)-1], uint64(len(p.Log))), p.Log...)
		}
		out = binary.AppendVarint(out, p.From-was.From)
		out = binary.AppendVarint(out, p.Seq-was.Seq)
		out = binary.AppendUvarint(out, uint64(p.Count)) //nolint:gosec // as above
		out = binary.AppendUvarint(out, uint64(p.Gen))   //nolint:gosec // as above
		was = p
	}
	return append(out, rest...)
}

// DecodeOutline decodes the output of Encode.
func DecodeOutline(b []byte) (Outline, error) {
	var out Outline
	if after, ok := bytes.CutPrefix(b, []byte(folds)); ok {
		d := decoder{rest: after}
		count := d.uint()
		if count < 1 || count > int64(len(b)) {
			return nil, errTimeline
		}
		was := Part{}
		for range count {
			p := Part{Level: int(d.uint())}
			p.Log = d.text(was.Log)
			p.From, p.Seq = was.From+d.int(), was.Seq+d.int()
			p.Count, p.Gen = d.uint(), d.uint()
			if d.failed || p.Level < 1 || p.From < 0 || p.Seq < 1 || p.Count < 1 || (was.Level > 0 && p.Level > was.Level) {
				return nil, errTimeline
			}
			out, was = append(out, p), p
		}
		b = d.rest
	}
	t, err := DecodeTimeline(b)
	return append(out, OutlineOf(t)...), err
}
