package lambda

import (
	"bytes"
	"io"
	"sync"
)

// lines merges the lines of many processes into one writer, line by line.
type lines struct {
	mu   sync.Mutex
	next io.Writer
}

func (l *lines) prefixed(name string) *prefixer {
	return &prefixer{lines: l, prefix: []byte(name + "  ")}
}

// prefixer adds a function's name to each line of one of its processes.
type prefixer struct {
	lines  *lines
	prefix []byte
	mu     sync.Mutex
	rest   []byte
}

// Write implements io.Writer.
func (p *prefixer) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, data...)
	for {
		end := bytes.IndexByte(p.rest, '\n')
		if end < 0 {
			return len(data), nil
		}
		p.print(p.rest[:end+1])
		p.rest = p.rest[end+1:]
	}
}

// flush prints an unterminated last line.
func (p *prefixer) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rest) > 0 {
		p.print(append(p.rest, '\n'))
		p.rest = nil
	}
}

func (p *prefixer) print(line []byte) {
	p.lines.mu.Lock()
	defer p.lines.mu.Unlock()
	// A closed terminal must not fail the function.
	_, _ = p.lines.next.Write(append(append([]byte{}, p.prefix...), line...))
}
