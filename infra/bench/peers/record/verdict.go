package record

import (
	"fmt"
	"strings"

	"github.com/rethread/rethread/infra/bench/meter"
)

// step is a part of the scenarios that every peer plays.
type step struct {
	name string
	// usage returns what a peer needed, if it did not fail.
	usage func(Peer) (meter.Usage, bool)
}

func (r Record) steps() []step {
	var all []step
	for _, n := range r.Plan.Turns {
		all = append(all, step{fmt.Sprintf("storing %d turns", n), func(p Peer) (meter.Usage, bool) { return p.At(n) }})
	}
	for _, n := range r.Plan.Turns {
		all = append(all, step{fmt.Sprintf("loading %d turns", n), func(p Peer) (meter.Usage, bool) { return p.LoadAt(n) }})
	}
	return append(all,
		step{"a rewind", func(p Peer) (meter.Usage, bool) { return p.Rewind.Usage, p.Rewind.Error == "" }},
		step{"a fork", func(p Peer) (meter.Usage, bool) { return p.Fork.Usage, p.Fork.Error == "" }},
		step{"a streamed answer", func(p Peer) (meter.Usage, bool) { return p.Stream.Usage, p.Stream.Error == "" }})
}

// verdict says from the data where other stores need fewer units than Rethread through
// HTTP, and where they fail. Rethread's rows come first.
func (r Record) verdict(b *strings.Builder) {
	b.WriteString("\n### Where others are better, and where they fail\n\n")
	for _, s := range r.steps() {
		r.better(b, s)
	}
	for _, p := range r.Peers {
		if p.Failed != nil {
			fmt.Fprintf(b, "- %s **fails at turn %d** of a thread: %s\n", p.Name, p.Failed.Turn, plain(p.Failed.Error))
		}
		for _, l := range p.Loads {
			if l.Wrong != "" {
				fmt.Fprintf(b, "- %s **does not load %d turns whole**: %s\n", p.Name, l.Turns, plain(l.Wrong))
			}
		}
	}
}

// better names the stores of others whose units for a step cost less than those of Rethread
// through HTTP.
func (r Record) better(b *strings.Builder, s step) {
	own, _ := s.usage(r.Peers[0])
	var names []string
	for _, p := range r.Peers {
		if u, ok := s.usage(p); ok && dollars(u) < dollars(own) && !strings.HasPrefix(p.Name, "Rethread") {
			names = append(names, fmt.Sprintf("%s (%.0f %%)", p.Name, 100*dollars(u)/dollars(own)))
		}
	}
	if len(names) == 0 {
		fmt.Fprintf(b, "- For %s, no other store's units cost less than those of Rethread through HTTP.\n", s.name)
		return
	}
	fmt.Fprintf(b, "- For %s, the units of these cost less than those of Rethread through HTTP: %s.\n", s.name, strings.Join(names, "; "))
}

// The names of LangGraph's savers begin with these, and end with how both are used.
const (
	RethreadSaver = "Rethread, RethreadSaver of LangGraph, "
	DynamoDBSaver = "LangGraph, DynamoDBSaver, "
)
