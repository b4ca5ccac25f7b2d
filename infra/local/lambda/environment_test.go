package lambda_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestEnvironmentIsBounded(t *testing.T) {
	t.Parallel()
	start := func(value string) error {
		h, err := lambda.Start(t.Context(), lambda.Options{
			Functions: []lambda.Definition{{Function: samtemplate.Function{
				LogicalID: "RunnerFunction", Name: "runner", Environment: map[string]string{"AGENTS": value, "A": "b"},
			}}},
			Log: slog.New(slog.DiscardHandler),
		})
		if err == nil {
			h.Close()
		}
		return err
	}
	room := lambda.MaxEnvironmentBytes - len(`{"A":"b","AGENTS":""}`)
	for _, fits := range []string{"", strings.Repeat("x", room), strings.Repeat("\"", room/2), strings.Repeat("é", room/2)} {
		if err := start(fits); err != nil {
			t.Errorf("%d bytes: %v", len(fits), err)
		}
	}
	for _, large := range []string{strings.Repeat("x", room+1), strings.Repeat("\"", room/2+1), strings.Repeat("é", room/2+1)} {
		err := start(large)
		if !errors.Is(err, lambda.ErrEnvironment) || !strings.Contains(err.Error(), "RunnerFunction") || !strings.Contains(err.Error(), "AGENTS takes") {
			t.Errorf("%d bytes: %v", len(large), err)
		}
	}
}
