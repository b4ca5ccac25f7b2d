// Package story has what the stories of the generated Go clients share.
package story

import (
	"fmt"
	"os"
	"reflect"
	"time"
)

// The values that every story sends.
const (
	Question  = "/tool weather"
	Remark    = "Thank you"
	Artifact  = "report.bin"
	TaskID    = "task-1"
	Bytes     = "\x00\x01rethread\xff"
	Unknown   = "no-such-session"
	pollEvery = 50 * time.Millisecond
	pollFor   = 20 * time.Second
)

// URL returns the base URL of the API, and Token the token to use.
func URL() string   { return os.Getenv("RETHREAD_URL") }
func Token() string { return os.Getenv("RETHREAD_TOKEN") }

// Done reports a step of the story to the program that runs it.
func Done(step string) { _, _ = fmt.Fprintln(os.Stdout, step) }

// Must ends the story with the error.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// Equal ends the story if the values differ.
func Equal[T any](what string, got, want T) {
	if !reflect.DeepEqual(got, want) {
		panic(fmt.Sprintf("%s: got %#v, want %#v", what, got, want))
	}
}

// Poll calls ended until it returns true.
func Poll(what string, ended func() bool) {
	for start := time.Now(); !ended(); time.Sleep(pollEvery) {
		if time.Since(start) > pollFor {
			panic(what + ": not within " + pollFor.String())
		}
	}
}
