package parameters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	secretAge = 5 * time.Minute // after which a secret is read again
	readPause = time.Minute     // between two reads of one
)

// ErrSecret says that a secret cannot be read. Its text names the parameter.
var ErrSecret = errors.New("secret")

// Secrets reads secrets when they are needed: at the first call, again after five
// minutes, and if one was refused, but each at most once a minute. It is safe for
// concurrent use.
type Secrets struct {
	// Get reads parameters; those that are missing are absent.
	Get func(ctx context.Context, names []string) (map[string]string, error)
	// Prefix is the path below which secrets are; without one none can be read.
	Prefix string
	Now    func() time.Time
	Log    *slog.Logger

	mu   sync.Mutex
	kept map[string]*secret
}

// secret is a secret as it was read last.
type secret struct {
	mu    sync.Mutex
	value string // "" if it was missing
	read  time.Time
	err   error // of the last read
}

// Secret returns a secret. One that cannot be read again for now stays as it was; one
// that is missing is ErrSecret.
func (s *Secrets) Secret(ctx context.Context, name string) (string, error) {
	if s.Prefix == "" || !strings.HasPrefix(name, strings.TrimSuffix(s.Prefix, "/")+"/") {
		return "", s.failed(ctx, name, fmt.Errorf("is not below the prefix of agents' secrets, %q", s.Prefix))
	}
	k := s.entry(name)
	k.mu.Lock()
	defer k.mu.Unlock()
	age := s.Now().Sub(k.read)
	if age >= secretAge || k.value == "" && age >= readPause {
		s.fetch(ctx, name, k)
	}
	if k.value == "" {
		return "", k.err
	}
	return k.value, nil
}

// Renew reads a secret again that was refused, and reports whether it is another one.
func (s *Secrets) Renew(ctx context.Context, name, refused string) bool {
	k := s.entry(name)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value == refused && s.Now().Sub(k.read) >= readPause {
		s.fetch(ctx, name, k)
	}
	return k.value != "" && k.value != refused
}

func (s *Secrets) entry(name string) *secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]*secret{}
	}
	if s.kept[name] == nil {
		s.kept[name] = &secret{}
	}
	return s.kept[name]
}

// fetch reads a secret. A read that its caller gave up counts as none.
func (s *Secrets) fetch(ctx context.Context, name string, k *secret) {
	reading, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := s.Get(reading, []string{name})
	value := strings.TrimSpace(found[name])
	switch {
	case ctx.Err() != nil:
		k.err = s.failed(ctx, name, ctx.Err())
		return
	case err != nil: // the value stays
		k.err = s.failed(ctx, name, err)
	case value == "":
		k.value, k.err = "", s.failed(ctx, name, errors.New("is missing or empty"))
	case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		k.value, k.err = "", s.failed(ctx, name, errors.New("has control characters"))
	default:
		k.value, k.err = value, nil
	}
	k.read = s.Now()
}

func (s *Secrets) failed(ctx context.Context, name string, cause error) error {
	s.Log.ErrorContext(ctx, "a secret cannot be read", "parameter", name, "error", cause)
	return fmt.Errorf("%w: %s: %w", ErrSecret, name, cause)
}
