package logs

import (
	"context"
	"io"
	"log/slog"
	"slices"
)

// New returns a logger that writes each record as a line of JSON, with the
// context's attributes.
func New(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(NewHandler(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})))
}

// NewHandler returns a handler that adds the context's attributes to each record.
// Attributes of the record or its logger take precedence, so no name occurs twice.
func NewHandler(next slog.Handler) slog.Handler { return &handler{next: next} }

type handler struct {
	next  slog.Handler
	given []string // names of the logger's attributes
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

// WithGroup implements slog.Handler. The context's attributes are in the group, as
// are all attributes of a record.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{next: h.next.WithGroup(name)}
}
