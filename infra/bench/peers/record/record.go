// Package record holds what the benchmark of conversation stores has measured, and writes
// its page and plots from that.
package record

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/rethread/rethread/infra/bench/meter"
)

// Record is the result of `make bench-peers`.
type Record struct {
	Date string `json:"date"` // UTC
	// Engine is the database that all peers stored in.
	Engine string `json:"engine"`
	// Caveat is a sentence about this record that its readers must know; a whole run has none.
	Caveat string `json:"caveat,omitempty"`
	Plan   Plan   `json:"plan"`
	Peers  []Peer `json:"peers"`
}

// Plan is the size of the scenarios.
type Plan struct {
	// Turns are the lengths at which a growing thread is measured, ascending; Step is how
	// many turns lie between two points of its curve.
	Turns []int `json:"turns"`
	Step  int   `json:"step"`
	// Branch is how many turns the thread has that is forked and rewound, and Before how
	// many precede a streamed answer of Tokens.
	Branch int `json:"branch"`
	Before int `json:"before"`
	Tokens int `json:"tokens"`
	// Question and Answer are lengths in characters.
	Question int `json:"question"`
	Answer   int `json:"answer"`
}

// Peer is the result of one store.
type Peer struct {
	Name string `json:"name"`
	// Short names the peer in plots.
	Short string `json:"short"`
	// Packages are name==version of what was used.
	Packages []string `json:"packages"`
	How      How      `json:"how"`
	// Curve is the total cost of a growing thread's turns.
	Curve []Point `json:"curve"`
	// Failed is why the thread could not grow further, if so.
	Failed *Failure `json:"failed,omitempty"`
	Loads  []Point  `json:"loads"`
	Rewind Outcome  `json:"rewind"`
	Fork   Outcome  `json:"fork"`
	Stream Outcome  `json:"stream"`
}

// How says in a few words which functions of a peer were used.
type How struct {
	Write  string `json:"write"`
	Load   string `json:"load"`
	Rewind string `json:"rewind"`
	Fork   string `json:"fork"`
	Stream string `json:"stream"`
}

// Point is the cost after a number of turns.
type Point struct {
	Turns int         `json:"turns"`
	Usage meter.Usage `json:"usage"`
	// Wrong says what a load returned instead of what was stored, if so.
	Wrong string `json:"wrong,omitempty"`
}

// Failure is the turn, counted from 1, that could not be stored, and why.
type Failure struct {
	Turn  int    `json:"turn"`
	Error string `json:"error"`
}

// Outcome is the cost of an operation, or why it failed.
type Outcome struct {
	Usage meter.Usage `json:"usage"`
	Error string      `json:"error,omitempty"`
}

// At returns the cost of the first turns, if that many were stored.
func (p Peer) At(turns int) (meter.Usage, bool) { return at(p.Curve, turns) }

// LoadAt returns the cost of loading a thread of that many turns, if that returned all of it.
func (p Peer) LoadAt(turns int) (meter.Usage, bool) {
	u, ok := at(p.Loads, turns)
	return u, ok && p.wrongAt(turns) == ""
}

// wrongAt returns what a load returned instead of a thread of that many turns.
func (p Peer) wrongAt(turns int) string {
	for _, l := range p.Loads {
		if l.Turns == turns {
			return l.Wrong
		}
	}
	return ""
}

func at(points []Point, turns int) (meter.Usage, bool) {
	for _, p := range points {
		if p.Turns == turns {
			return p.Usage, true
		}
	}
	return meter.Usage{}, false
}

// ReadFile reads the record that WriteFile wrote.
func ReadFile(name string) (Record, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the caller's own file
	if err != nil {
		return Record{}, fmt.Errorf("read the record of peers: %w", err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("read the record of peers in %s: %w", name, err)
	}
	return r, nil
}

// WriteFile writes the record as JSON.
func (r Record) WriteFile(name string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the record of peers: %w", err)
	}
	if err := os.WriteFile(name, append(text, '\n'), 0o644); err != nil { //nolint:gosec // it is part of the repository
		return fmt.Errorf("write the record of peers: %w", err)
	}
	return nil
}
