package parameters_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/client/parameters"
)

// vault is where secrets are kept.
type vault struct {
	held  map[string]string
	down  error
	reads int
	now   time.Time
	log   bytes.Buffer
}

func (v *vault) secrets(prefix string) *parameters.Secrets {
	return &parameters.Secrets{
		Get: func(_ context.Context, names []string) (map[string]string, error) {
			v.reads++
			out := map[string]string{}
			for _, name := range names {
				if value, ok := v.held[name]; ok && v.down == nil {
					out[name] = value
				}
			}
			return out, v.down
		},
		Prefix: prefix, Now: func() time.Time { return v.now }, Log: slog.New(slog.NewTextHandler(&v.log, nil)),
	}
}

const key = "/agents/key"

func TestSecrets(t *testing.T) {
	v := &vault{held: map[string]string{key: " one\n"}, now: time.Unix(1000, 0)}
	s := v.secrets("/agents")
	want := func(after time.Duration, value string, reads int) {
		t.Helper()
		v.now = v.now.Add(after)
		got, err := s.Secret(t.Context(), key)
		if got != value || (err != nil) != (value == "") || v.reads != reads {
			t.Errorf("%q, %v after %d reads; want %q after %d", got, err, v.reads, value, reads)
		}
		if err != nil && !errors.Is(err, parameters.ErrSecret) {
			t.Errorf("the error is %v", err)
		}
	}
	want(0, "one", 1)
	v.held[key] = "two"
	want(4*time.Minute, "one", 1)
	want(time.Minute, "two", 2)
	v.held[key] = "three"
	if s.Renew(t.Context(), key, "two") || v.reads != 2 {
		t.Error("a secret that was just read is read again")
	}
	v.now = v.now.Add(time.Minute)
	if !s.Renew(t.Context(), key, "two") || v.reads != 3 {
		t.Error("a refused secret is not read again")
	}
	want(0, "three", 3)
	if !s.Renew(t.Context(), key, "two") || v.reads != 3 {
		t.Error("a secret that another call has read again is not used")
	}
	v.down = errors.New("throttled")
	want(5*time.Minute, "three", 4) // it stays as it was
	want(time.Second, "three", 4)
	v.down = nil
	delete(v.held, key)
	want(5*time.Minute, "", 5)
	want(30*time.Second, "", 5)
	v.held[key] = "four"
	want(30*time.Second, "four", 6)
	if log := v.log.String(); !strings.Contains(log, key) || strings.Contains(log, "three") {
		t.Errorf("the log: %s", log)
	}
}

func TestSecrets_that_cannot_be_read(t *testing.T) {
	for name, test := range map[string]struct{ prefix, name, value string }{
		"no prefix":              {"", key, "x"},
		"beside the prefix":      {"/agent", key, "x"},
		"the prefix itself":      {key, key, "x"},
		"a value with a newline": {"/agents", key, "x\ny"},
		"an empty value":         {"/agents", key, " "},
	} {
		v := &vault{held: map[string]string{test.name: test.value}, now: time.Unix(1000, 0)}
		if got, err := v.secrets(test.prefix).Secret(t.Context(), test.name); err == nil || !strings.Contains(v.log.String(), key) {
			t.Errorf("%s: %q, %v, log %s", name, got, err, v.log.String())
		}
	}
}
