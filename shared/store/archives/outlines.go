package archives

import (
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
)

// outlines remembers the outlines of markers, since each marker of a document has the whole
// timeline.
type outlines struct {
	known map[eventlog.MarkerAt]session.Outline
	rest  session.Markers // reads those that are not known
}

func newOutlines(rest session.Markers) *outlines {
	return &outlines{known: map[eventlog.MarkerAt]session.Outline{}, rest: rest}
}

func (o *outlines) read(parts []session.Part) ([]session.Outline, error) {
	var missing []session.Part
	for _, p := range parts {
		if _, ok := o.known[markerOf(p)]; !ok {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		held, err := o.rest(missing)
		if err != nil {
			return nil, err
		}
		for i, p := range missing {
			o.known[markerOf(p)] = held[i]
		}
	}
	out := make([]session.Outline, len(parts))
	for i, p := range parts {
		out[i] = o.known[markerOf(p)]
	}
	return out, nil
}

// at returns the outline of a marker.
func (o *outlines) at(marker eventlog.MarkerAt) (session.Outline, error) {
	held, err := o.read([]session.Part{{Range: session.Range{Log: marker.Log, From: marker.Position}}})
	if err != nil {
		return nil, err
	}
	return held[0], nil
}

func markerOf(p session.Part) eventlog.MarkerAt {
	return eventlog.MarkerAt{Log: p.Log, Position: p.From}
}

// of returns the outline of a log's marker that was just read, remembers it, and returns its
// whole timeline.
func (o *outlines) of(marker eventlog.MarkerAt, stored []byte) (session.Timeline, error) {
	outline, err := session.DecodeOutline(stored)
	if err != nil {
		return nil, err
	}
	o.known[marker] = outline
	return outline.Ranges(o.read)
}

// fold returns the outline of a marker with a timeline, as the rewind would have made it:
// the marker before the timeline's last closed range has what came before that. If its
// timeline is another one, as a document may say, the outline has all ranges itself.
func (o *outlines) fold(log string, t session.Timeline, most int) (session.Outline, error) {
	whole := session.OutlineOf(t)
	if len(t) <= most {
		return whole, nil
	}
	last := t[len(t)-2]
	held, err := o.at(eventlog.MarkerAt{Log: log, Position: last.From - 1})
	switch {
	case errors.Is(err, eventlog.ErrMissingEntry):
		return whole, nil
	case err != nil:
		return nil, err
	}
	before, err := held.Before(last.Last()+1, o.read)
	if err != nil {
		return nil, err
	}
	folded := before.Reopened(log, t[len(t)-1].From).Folded(log, last.From-1, most)
	got, err := folded.Ranges(o.read)
	if err != nil || !slices.Equal(got, t) {
		return whole, err
	}
	return folded, nil
}
