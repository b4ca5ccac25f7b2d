package logs

import (
	"context"
	"io"
	"log/slog"
	"slices"
)

// New is a logger that writes a line of JSON a record, with what the context
// knows.
func New(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(NewHandler(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})))
}

// NewHandler adds to each record what is known in its context. What the record
// or its logger say themselves stands: no name comes twice.
func NewHandler(next slog.Handler) slog.Handler { return &handler{next: next} }

type handler struct {
	next  slog.Handler
	given []string // names that the logger has values of
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	known := Of(ctx)
	if len(known) == 0 {
		return h.next.Handle(ctx, r)
	}
	given := slices.Clip(h.given)
	r.Attrs(func(a slog.Attr) bool {
		given = append(given, a.Key)
		return true
	})
	r = r.Clone()
	for _, a := range known {
		if !slices.Contains(given, a.Key) {
			r.AddAttrs(a)
		}
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	given := slices.Clip(h.given)
	for _, a := range attrs {
		given = append(given, a.Key)
	}
	return &handler{next: h.next.WithAttrs(attrs), given: given}
}

// WithGroup implements slog.Handler. What the context knows stands in the group,
// as all attributes of a record do.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{next: h.next.WithGroup(name)}
}
