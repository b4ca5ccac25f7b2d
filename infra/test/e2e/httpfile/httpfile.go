// Package httpfile reads .http files, whose requests editors can send: "###"
// separates requests, "@name = value" defines a variable, "# @name x" names a
// request, {{x.response.body.$.path}} refers to its answer, and "# expect 201"
// states the expected status.
package httpfile

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// File is a parsed file.
type File struct {
	Variables map[string]string
	Requests  []Request
}

// Request is one request as written, with unresolved {{references}}.
type Request struct {
	Title   string // the text after ###
	Name    string
	Line    int
	Expect  []int
	Method  string
	URL     string
	Headers []Header
	Body    string
}

// Header is one header line of a request.
type Header struct{ Name, Value string }

// SyntaxError identifies an invalid line.
type SyntaxError struct {
	Line   int
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

var (
	requestLine  = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (\S.*)$`)
	variableLine = regexp.MustCompile(`^@([A-Za-z_]\w*)\s*=\s*(.*)$`)
	headerLine   = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*):\s*(.*)$`)
	reference    = regexp.MustCompile(`\{\{\s*([^{}]+?)\s*\}\}`)
)

// Parse parses a file.
func Parse(r io.Reader) (*File, error) {
	p := parser{file: &File{Variables: map[string]string{}}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := p.line(n, lines.Text()); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read an .http file: %w", err)
	}
	p.finish()
	return p.file, nil
}

type parser struct {
	file   *File
	next   Request // the request being parsed
	inBody bool
}

func (p *parser) line(n int, text string) error {
	if title, ok := strings.CutPrefix(text, "###"); ok {
		p.finish()
		p.next.Title = strings.TrimSpace(title)
		return nil
	}
	if p.inBody {
		p.next.Body += text + "\n"
		return nil
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		p.inBody = p.next.Method != ""
		return nil
	case strings.HasPrefix(text, "#"), strings.HasPrefix(text, "//"):
		return p.comment(n, strings.TrimSpace(strings.TrimLeft(text, "#/")))
	case p.next.Method == "":
		return p.start(n, text)
	}
	m := headerLine.FindStringSubmatch(text)
	if m == nil {
		return &SyntaxError{n, "neither a header nor an empty line: " + text}
	}
	p.next.Headers = append(p.next.Headers, Header{m[1], m[2]})
	return nil
}

func (p *parser) start(n int, text string) error {
	if m := variableLine.FindStringSubmatch(text); m != nil {
		p.file.Variables[m[1]] = m[2]
		return nil
	}
	m := requestLine.FindStringSubmatch(text)
	if m == nil {
		return &SyntaxError{n, "neither a variable nor a request: " + text}
	}
	p.next.Method, p.next.URL, p.next.Line = m[1], m[2], n
	return nil
}

func (p *parser) comment(n int, text string) error {
	if name, ok := strings.CutPrefix(text, "@name "); ok {
		p.next.Name = strings.TrimSpace(name)
	}
	expect, ok := strings.CutPrefix(text, "expect ")
	if !ok {
		return nil
	}
	for word := range strings.FieldsSeq(expect) {
		status, err := strconv.Atoi(word)
		if err != nil {
			return &SyntaxError{n, "not a status: " + word}
		}
		p.next.Expect = append(p.next.Expect, status)
	}
	return nil
}

func (p *parser) finish() {
	if p.next.Method != "" {
		p.next.Body = strings.TrimSpace(p.next.Body)
		p.file.Requests = append(p.file.Requests, p.next)
	}
	p.next, p.inBody = Request{}, false
}

// Resolve replaces each {{reference}} with lookup's result.
func Resolve(text string, lookup func(string) (string, error)) (string, error) {
	var failed error
	out := reference.ReplaceAllStringFunc(text, func(match string) string {
		value, err := lookup(reference.FindStringSubmatch(match)[1])
		if err != nil && failed == nil {
			failed = err
		}
		return value
	})
	return out, failed
}
