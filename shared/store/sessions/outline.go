package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/table"
)

// OutlineParts is how many parts of each level an outline has at most. Those of 10,000
// rewinds take about 400 bytes, in the header and in each marker.
const OutlineParts = 16

// Markers returns the reader of what markers have in their outlines.
func (s *reader) Markers(ctx context.Context) session.Markers {
	return func(parts []session.Part) ([]session.Outline, error) {
		var at []eventlog.MarkerAt
		for _, p := range parts {
			if p.From > 0 {
				at = append(at, eventlog.MarkerAt{Log: p.Log, Position: p.From})
			}
		}
		stored, err := s.logs.Timelines(ctx, at)
		if err != nil {
			return nil, err
		}
		out := make([]session.Outline, len(parts))
		for i, p := range parts {
			if p.From == 0 {
				out[i], err = s.tookOver(ctx, p.Log)
			} else {
				out[i], err = decodeOutline(stored[eventlog.MarkerAt{Log: p.Log, Position: p.From}])
			}
			if err != nil {
				return nil, fmt.Errorf("log %s at %d: %w", p.Log, p.From, err)
			}
		}
		return out, nil
	}
}

func decodeOutline(b []byte) (session.Outline, error) {
	o, err := session.DecodeOutline(b)
	if err != nil {
		return nil, errors.Join(table.ErrUnreadable, err)
	}
	return o, nil
}

// Timeline reads all of what an outline of a session stands for.
func (s *reader) Timeline(ctx context.Context, outline func() (session.Outline, error)) (session.Timeline, error) {
	o, err := outline()
	if err != nil {
		return nil, err
	}
	return o.Ranges(s.Markers(ctx))
}

// TimelineAt returns what the session showed just before a position of its log.
func (s *reader) TimelineAt(ctx context.Context, h *Header, p *LogPosition) (session.Before, error) {
	history, err := h.History()
	if err != nil {
		return session.Before{}, err
	}
	then, marker := history.At(p.at())
	if marker != 0 && marker != h.Marker {
		held, err := s.Markers(ctx)([]session.Part{{Range: session.Range{Log: h.Log, From: marker}}})
		if err != nil {
			return session.Before{}, err
		}
		then = held[0]
	}
	then, err = then.Before(p.Seq, s.Markers(ctx))
	return session.Before{Outline: then, Marker: marker}, err
}
