package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// printer writes the story; the first error, of writing or of the story, ends it.
type printer struct {
	out  io.Writer
	step int
	open bool // the current message may still grow
	wide int  // characters on its line
	err  error
}

// lineWidth is the number of characters after which a growing message is broken.
const lineWidth = 72

func (p *printer) line(format string, args ...any) {
	p.end()
	p.write(format+"\n", args...)
}

func (p *printer) write(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

// fail ends the story; only the first error counts.
func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// chapter starts a part of the story.
func (p *printer) chapter(title string) {
	p.step++
	p.line("\n%d. %s", p.step, title)
}

// says prints a message like a chat window.
func (p *printer) says(speaker, text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			speaker = ""
		}
		p.line("   %14s │ %s", speaker, line)
	}
}

// note prints a result.
func (p *printer) note(format string, args ...any) { p.line("   ✓ "+format, args...) }

// begin starts a message that grows with add; any other output ends it.
func (p *printer) begin(speaker string) {
	p.end()
	p.write("   %14s │ ", speaker)
	p.open, p.wide = true, 0
}

func (p *printer) add(text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		if p.wide > lineWidth {
			p.write("\n   %14s │ ", "")
			p.wide = 0
		}
		p.write("%s", word)
		p.wide += utf8.RuneCountInString(word)
	}
}

func (p *printer) end() {
	if p.open {
		p.open = false
		p.write("\n")
	}
}
