package dynamodblocal

import (
	"io"
	"sync"
)

const tailBytes = 8 << 10

// tail keeps the end of a program's output for error messages.
type tail struct {
	mu   sync.Mutex
	buf  []byte
	next io.Writer
}

func newTail(next io.Writer) *tail {
	if next == nil {
		next = io.Discard
	}
	return &tail{next: next}
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	t.mu.Unlock()
	return t.next.Write(p)
}

// String returns the retained output.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
