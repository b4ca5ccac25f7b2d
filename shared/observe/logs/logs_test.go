package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/shared/observe/logs"
)

type fields = map[string]any

// mustLine returns the only logged line, without its time and level.
func mustLine(t *testing.T, out *bytes.Buffer) fields {
	t.Helper()
	var got fields
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	delete(got, "time")
	delete(got, "level")
	out.Reset()
	return got
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		log  func(ctx context.Context, log *slog.Logger)
		want fields
	}{
		{
			"a line without a scope is unchanged",
			func(ctx context.Context, log *slog.Logger) { log.InfoContext(ctx, "m", "a", "1") },
			fields{"msg": "m", "a": "1"},
		},
		{
			"a line has the attributes of its scope and the outer ones",
			func(ctx context.Context, log *slog.Logger) {
				ctx = logs.With(ctx, slog.String(logs.RequestID, "r"))
				ctx = logs.With(ctx, slog.String(logs.SessionID, "s"))
				log.InfoContext(ctx, "m")
			},
			fields{"msg": "m", "request_id": "r", "session_id": "s"},
		},
		{
			"attributes added later are in later lines of the code that began the scope",
			func(ctx context.Context, log *slog.Logger) {
				ctx = logs.With(ctx, slog.String(logs.RequestID, "r"))
				within, cancel := context.WithCancel(ctx)
				logs.Add(within, slog.String(logs.RunID, "one"))
				logs.Add(within, slog.String(logs.RunID, "two"))
				cancel()
				log.InfoContext(ctx, "m")
			},
			fields{"msg": "m", "request_id": "r", "run_id": "two"},
		},
		{
			"attributes of an inner scope are not in lines of the outer one",
			func(ctx context.Context, log *slog.Logger) {
				ctx = logs.With(ctx, slog.String(logs.SessionID, "outer"))
				logs.Add(logs.With(ctx, slog.String(logs.SessionID, "inner")), slog.String(logs.RunID, "run"))
				log.InfoContext(ctx, "m")
			},
			fields{"msg": "m", "session_id": "outer"},
		},
		{
			"the innermost scope takes precedence",
			func(ctx context.Context, log *slog.Logger) {
				ctx = logs.With(ctx, slog.String("a", "scope"), slog.String("b", "scope"), slog.String("c", "scope"))
				ctx = logs.With(ctx, slog.String("c", "inner"))
				log.With("b", "logger").InfoContext(ctx, "m", "a", "record")
			},
			fields{"msg": "m", "a": "record", "b": "logger", "c": "inner"},
		},
		{
			"empty attributes are left out",
			func(ctx context.Context, log *slog.Logger) {
				ctx = logs.With(ctx, slog.String(logs.RunID, ""), logs.User(""))
				log.InfoContext(ctx, "m")
			},
			fields{"msg": "m"},
		},
		{
			"Add without a scope does nothing",
			func(ctx context.Context, log *slog.Logger) {
				logs.Add(ctx, slog.String("a", "1"))
				log.InfoContext(ctx, "m")
			},
			fields{"msg": "m"},
		},
		{
			"in a group, the attributes are within the group",
			func(ctx context.Context, log *slog.Logger) {
				ctx = logs.With(ctx, slog.String("a", "1"))
				log.With("a", "0").WithGroup("g").InfoContext(ctx, "m")
			},
			fields{"msg": "m", "a": "0", "g": fields{"a": "1"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			test.log(t.Context(), logs.New(&out, slog.LevelInfo))
			if diff := cmp.Diff(test.want, mustLine(t, &out), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("line (-want +got)\n%s", diff)
			}
		})
	}
}

func TestUser(t *testing.T) {
	t.Parallel()
	// The output of `printf %s alice | sha256sum | cut -c1-16`.
	if got := logs.User("alice"); got.Key != "user_id" || got.Value.String() != "2bd806c97f0e00af" {
		t.Errorf("got %v", got)
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logs.New(&out, slog.LevelWarn).InfoContext(t.Context(), "m")
	if out.Len() != 0 {
		t.Errorf("logged %s", &out)
	}
}
