package demoagent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/domain/run"
)

const help = `I am a demo and answer what you say. I also know: ` +
	`/slow, a long answer; /long N, N words; /items N, N items; /think, thinking first; /tool, a function call; ` +
	`/state key=value, a change of state; /utf8, characters of many bytes; ` +
	`/fail, an error after some words; /drop, a lost connection; /silent, nothing at all; ` +
	`/malformed, what is no JSON; /big, an item over the limit.`

// Bounds of the numbers in commands.
const (
	mostWords = 100_000
	mostItems = 2_000
	slowWords = 300
	bigPiece  = 64 << 10 // bytes
)

// answer carries out the command in the question.
func answer(q question, v protocol, w *wire) error {
	s := speaker{v, w}
	if q.response != "" {
		return s.whole("The tool answered " + q.response + ". Thank you.")
	}
	command, rest, _ := strings.Cut(strings.TrimSpace(q.text), " ")
	switch command {
	case "/help":
		return s.whole(help)
	case "/slow":
		return s.whole(words(slowWords))
	case "/long":
		return s.whole(words(number(rest, 1000, mostWords)))
	case "/items":
		return s.items(number(rest, 3, mostItems))
	case "/think":
		return s.think(rest)
	case "/tool":
		return s.tool(rest)
	case "/state":
		return s.state(rest)
	case "/utf8":
		return s.runes("Grüße 👩‍👩‍👧‍👦 из 東京 🇯🇵 naïve 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 é")
	case "/fail", "/drop", "/silent", "/malformed", "/big":
		return s.misbehave(command)
	}
	return s.whole(fmt.Sprintf("You said: %q. That was message %d of our talk. "+
		"I am a demo without a model, so this is all I can tell. Try /help.", q.text, q.turns))
}

// speaker sends longer answers in pieces, paced.
type speaker struct {
	protocol

	wire *wire
}

// sayWords sends a text word by word.
func (s speaker) sayWords(text string) error {
	for _, word := range strings.SplitAfter(text, " ") {
		if err := s.wire.pause(); err != nil {
			return err
		}
		if err := s.say(word); err != nil {
			return err
		}
	}
	return nil
}

// steps runs functions in order until one fails.
func steps(list ...func() error) error {
	for _, step := range list {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s speaker) whole(text string) error {
	return steps(s.begin, func() error { return s.sayWords(text) }, s.done)
}

func (s speaker) items(n int) error {
	for i := range n {
		err := steps(s.begin, func() error { return s.sayWords(fmt.Sprintf("Item %d of %d. ", i+1, n)) })
		if err != nil {
			return err
		}
	}
	return s.done()
}

func (s speaker) think(about string) error {
	return steps(s.begin,
		func() error {
			for _, word := range []string{"Let ", "me ", "think ", "about ", cmp.Or(about, "it")} {
				if err := steps(s.wire.pause, func() error { return s.protocol.think(word) }); err != nil {
					return err
				}
			}
			return nil
		},
		func() error { return s.sayWords("I have thought about it.") },
		s.done)
}

// tool requests a function call whose arguments arrive in pieces.
func (s speaker) tool(topic string) error {
	args, err := json.Marshal(map[string]string{"query": topic})
	if err != nil {
		return err
	}
	return steps(s.begin,
		func() error { return s.sayWords("I look it up.") },
		func() error { return s.call("call_1", "look_up", "") },
		func() error {
			for _, r := range string(args) {
				if err := s.call("", "", string(r)); err != nil {
					return err
				}
			}
			return nil
		},
		s.done)
}

// state changes the session's state: each word is a key and its value, as JSON or
// plain text.
func (s speaker) state(pairs string) error {
	delta := map[string]json.RawMessage{}
	for _, pair := range strings.Fields(pairs) {
		key, value, _ := strings.Cut(pair, "=")
		delta[key] = json.RawMessage(value)
		if !json.Valid(delta[key]) {
			text, err := json.Marshal(value)
			if err != nil {
				return err
			}
			delta[key] = text
		}
	}
	return steps(s.begin,
		func() error { return s.sayWords(fmt.Sprintf("I remember %d things.", len(delta))) },
		func() error { return s.protocol.state(delta) },
		s.done)
}

// runes sends a text character by character, so that user-perceived characters are
// often split.
func (s speaker) runes(text string) error {
	return steps(s.begin, func() error {
		for _, r := range text {
			if err := steps(s.wire.pause, func() error { return s.say(string(r)) }); err != nil {
				return err
			}
		}
		return nil
	}, s.done)
}

// misbehave violates the agent protocol in the way that the command names.
func (s speaker) misbehave(command string) error {
	if command == "/silent" {
		<-s.wire.ctx.Done()
		return s.wire.ctx.Err()
	}
	if err := steps(s.begin, func() error { return s.sayWords("This goes well, until ") }); err != nil {
		return err
	}
	switch command {
	case "/drop":
		panic(http.ErrAbortHandler)
	case "/malformed":
		return s.malformed()
	case "/big":
		for range run.MaxItem/bigPiece + 1 {
			if err := s.say(strings.Repeat("x", bigPiece)); err != nil {
				return err
			}
		}
		return s.done()
	}
	return s.fail("demo_failed", "I was asked to fail.")
}

func words(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "word%d ", i+1)
	}
	return strings.TrimSpace(text.String())
}

// number parses a command's number and limits it to its bounds.
func number(text string, otherwise, most int) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 {
		return otherwise
	}
	return min(n, most)
}
