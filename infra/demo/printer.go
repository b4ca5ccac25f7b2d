package main

import (
	"fmt"
	"io"
	"strings"
)

// printer writes the story; the first error to write ends the writing.
type printer struct {
	out  io.Writer
	step int
	err  error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// chapter begins a part of the story.
func (p *printer) chapter(title string) {
	p.step++
	p.line("\n%d. %s", p.step, title)
}

// says shows a message as a chat window would.
func (p *printer) says(who, text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			who = ""
		}
		p.line("   %14s │ %s", who, line)
	}
}

// note adds something that happened.
func (p *printer) note(format string, args ...any) { p.line("   ✓ "+format, args...) }
