package host

import (
	"bytes"
	"strings"
	"sync"
)

// Tail keeps the end of what is written to it, for error messages.
type Tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const tailBytes = 32 << 10

// Write never fails.
func (l *Tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(p)
	if over := l.buf.Len() - 2*tailBytes; over > 0 {
		l.buf.Next(over + tailBytes)
	}
	return len(p), nil
}

// String returns the end of what was written.
func (l *Tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.buf.String()
	return strings.ToValidUTF8(s[max(0, len(s)-tailBytes):], "")
}
