package main

import (
	"bytes"
	"os"
)

const (
	shownErrors = 10
	shownBytes  = 2000 // of each
)

// lastErrors returns the last lines of a host's log with errors of functions. On a
// machine that is deleted after the test they are the only trace.
func lastErrors(logFile string) []byte {
	log, err := os.ReadFile(logFile)
	if err != nil {
		return []byte(err.Error())
	}
	var found [][]byte
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte(`"level":"ERROR"`)) {
			found = append(found, bytes.TrimSpace(line[:min(len(line), shownBytes)]))
		}
	}
	if len(found) == 0 {
		return []byte("no function logged an error")
	}
	return bytes.Join(found[max(0, len(found)-shownErrors):], []byte("\n"))
}
