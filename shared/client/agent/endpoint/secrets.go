package endpoint

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

var errNoSecrets = errors.New("there is no place where secrets are kept")

// sent are the secrets that were sent last, which are removed from what an agent answers.
type sent struct {
	mu     sync.Mutex
	values []string
}

// maxSent is how many secrets are remembered: those of one request and, while they are
// replaced, the ones before.
const maxSent = 64

func (s *sent) add(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.values, value) {
		s.values = append(s.values, value)
		s.values = s.values[max(0, len(s.values)-maxSent):]
	}
}

func (s *sent) redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range s.values {
		if len(value) >= minSecret {
			text = strings.ReplaceAll(text, value, "[redacted]")
		}
	}
	return text
}

// secretHeader returns the headers whose values are kept elsewhere.
func (e *Endpoint) secretHeader(ctx context.Context) (http.Header, error) {
	header := http.Header{}
	for name, kept := range e.kept {
		value, err := "", errNoSecrets
		if e.secrets != nil {
			value, err = e.secrets.Secret(ctx, kept.Name)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, NewError(CodeSecret, "a secret of the agent cannot be read").Because(err)
		}
		e.sent.add(value)
		header[name] = []string{kept.Prefix + value}
	}
	return header, nil
}

// renew reads the secrets again that were refused, and reports whether one has changed.
func (e *Endpoint) renew(ctx context.Context, refused http.Header) bool {
	changed := false
	for name, kept := range e.kept {
		value := strings.TrimPrefix(refused.Get(name), kept.Prefix)
		changed = e.secrets.Renew(ctx, kept.Name, value) || changed
	}
	return changed
}
