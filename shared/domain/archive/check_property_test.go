package archive_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/session"
)

// drawDocument draws a document of one session: batches, changes of state, rewinds
// and restored artifacts.
func drawDocument(rt *rapid.T) *archive.Part {
	p := &archive.Part{Head: &archive.Head{Session: session.Session{ID: "s"}, Timeline: archive.Timeline{{From: 1}}}, Complete: true}
	values := session.Values{}
	for n := range rapid.Int64Range(1, 12).Draw(rt, "events") {
		e := checkedEvent(n+1, archive.Log{})
		switch kind := rapid.IntRange(0, 3).Draw(rt, "kind"); {
		case kind == 0 && n > 0 && !p.Events[n-1].Log.Marks():
			e.Log.Joins = true
		case kind == 1:
			e.Log.Timeline = archive.Timeline{{From: n + 2}}
			if last := rapid.Int64Range(0, n).Draw(rt, "last shown"); last > 0 {
				e.Log.Timeline = archive.Timeline{{From: 1, To: last}, {From: n + 2}}
			}
			p.Head.Timeline, p.Head.Session.Epoch = e.Log.Timeline, p.Head.Session.Epoch+1
		case kind == 2:
			e.Log.Streamed, e.Log.Deltas = true, rapid.Int64Range(0, 3).Draw(rt, "deltas")
		}
		if rapid.Bool().Draw(rt, "changes") {
			e.StateDelta = session.Delta{rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "key"): json.RawMessage(strconv.FormatInt(n, 10))}
			e.Log.Undo = values.Apply(e.StateDelta)
		}
		p.Events = append(p.Events, e)
	}
	for n := range rapid.Int64Range(0, 6).Draw(rt, "versions") {
		a := archive.Artifact{Name: "f", Version: n, Missing: rapid.Bool().Draw(rt, "missing")}
		if n > 0 && rapid.Bool().Draw(rt, "restored") {
			a.Missing, a.Restored = false, ptr(rapid.Int64Range(0, n-1).Draw(rt, "of"))
		}
		p.Artifacts = append(p.Artifacts, a)
	}
	p.Head.Session.HeadSeq = int64(len(p.Events))
	p.State = &archive.State{State: session.State{Session: values}}
	return p
}

// drawParts cuts a document into parts, none of which begins with an event that
// joins another.
func drawParts(rt *rapid.T, p *archive.Part) []*archive.Part {
	parts := []*archive.Part{{Head: p.Head}}
	last := func() *archive.Part { return parts[len(parts)-1] }
	cut := func() bool { return rapid.Bool().Draw(rt, "cut") }
	for _, e := range p.Events {
		if !e.Log.Joins && cut() {
			parts = append(parts, &archive.Part{})
		}
		last().Events = append(last().Events, e)
	}
	for _, a := range p.Artifacts {
		if cut() {
			parts = append(parts, &archive.Part{})
		}
		last().Artifacts = append(last().Artifacts, a)
	}
	last().State, last().Complete = p.State, true
	return parts
}

// checkParts checks parts one after the other, and returns what they are together.
func checkParts(b archive.Before, parts []*archive.Part) (archive.Checked, error) {
	whole := archive.Checked{Targets: map[int]archive.Target{}, After: b}
	taken := map[int64]archive.Artifact{}
	for _, p := range parts {
		got, err := p.Check(whole.After, func(_ string, version int64) (*archive.Artifact, error) {
			if a, ok := taken[version]; ok {
				return &a, nil
			}
			return nil, nil
		})
		if err != nil {
			return whole, err
		}
		whole.Entries, whole.After = append(whole.Entries, got.Entries...), got.After
		for i, target := range got.Targets {
			whole.Targets[len(taken)+i] = target
		}
		for _, a := range p.Artifacts {
			taken[a.Version] = a
		}
	}
	return whole, nil
}

// However a document is cut, its parts give what the whole gives.
func TestPart_Check_in_parts(t *testing.T) {
	t.Parallel()
	property.Check(t, func(rt *rapid.T) {
		p := drawDocument(rt)
		want, err := p.Check(before(*p.Head), nothingStored)
		if err != nil {
			rt.Fatalf("the whole document: %v", err)
		}
		got, err := checkParts(before(*p.Head), drawParts(rt, p))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			rt.Fatalf("in parts (-whole +parts): %v\n%s", err, diff)
		}
	})
}

// A document that lost, repeated or exchanged an event is refused, however it is
// cut.
func TestPart_Check_gaps(t *testing.T) {
	t.Parallel()
	property.Check(t, func(rt *rapid.T) {
		p := drawDocument(rt)
		i := rapid.IntRange(0, len(p.Events)-1).Draw(rt, "at")
		switch rapid.IntRange(0, 2).Draw(rt, "fault") {
		case 0:
			p.Events = append(p.Events[:i:i], p.Events[i+1:]...)
		case 1:
			p.Events = append(p.Events[:i+1:i+1], p.Events[i:]...)
		default:
			j := rapid.IntRange(0, len(p.Events)-1).Draw(rt, "with")
			if i == j {
				return
			}
			p.Events[i], p.Events[j] = p.Events[j], p.Events[i]
		}
		if _, err := checkParts(before(*p.Head), drawParts(rt, p)); err == nil {
			rt.Fatal("accepted")
		}
	})
}
