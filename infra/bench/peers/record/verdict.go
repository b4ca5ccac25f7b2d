package record

import (
	"fmt"
	"slices"
	"strings"
)

// verdict says from the data where other stores need fewer units than Rethread through HTTP, and where
// they fail. Rethread's rows come first.
func (r Record) verdict(b *strings.Builder) {
	b.WriteString("\n## Where others are better, and where they fail\n\n")
	ours, others := r.Peers[0], r.others()
	for _, n := range r.Plan.Turns {
		own, _ := ours.At(n)
		r.better(b, fmt.Sprintf("storing %d turns", n), dollars(own), others, func(p Peer) (float64, bool) {
			u, ok := p.At(n)
			return dollars(u), ok
		})
	}
	for _, n := range r.Plan.Turns {
		own, _ := ours.LoadAt(n)
		r.better(b, fmt.Sprintf("loading %d turns", n), dollars(own), others, func(p Peer) (float64, bool) {
			u, ok := p.LoadAt(n)
			return dollars(u), ok
		})
	}
	for _, step := range []struct {
		name string
		of   func(Peer) Outcome
	}{
		{"a rewind", func(p Peer) Outcome { return p.Rewind }},
		{"a fork", func(p Peer) Outcome { return p.Fork }},
		{"a streamed answer", func(p Peer) Outcome { return p.Stream }},
	} {
		r.better(b, step.name, dollars(step.of(ours).Usage), others, func(p Peer) (float64, bool) {
			return dollars(step.of(p).Usage), step.of(p).Error == ""
		})
	}
	for _, p := range r.Peers {
		if p.Failed != nil {
			fmt.Fprintf(b, "- %s **fails at turn %d** of a thread: %s\n", p.Name, p.Failed.Turn, plain(p.Failed.Error))
		}
	}
}

// others are the peers that are not Rethread.
func (r Record) others() []Peer {
	return slices.DeleteFunc(slices.Clone(r.Peers), func(p Peer) bool { return strings.HasPrefix(p.Name, "Rethread") })
}

// better names the peers whose units for a step cost less than ours.
func (Record) better(b *strings.Builder, step string, ours float64, others []Peer, cost func(Peer) (float64, bool)) {
	var names []string
	for _, p := range others {
		if c, ok := cost(p); ok && c < ours {
			names = append(names, fmt.Sprintf("%s (%.0f %%)", p.Name, 100*c/ours))
		}
	}
	if len(names) == 0 {
		fmt.Fprintf(b, "- For %s, no other store's units cost less than those of Rethread through HTTP.\n", step)
		return
	}
	fmt.Fprintf(b, "- For %s, the units of these cost less than those of Rethread through HTTP: %s.\n", step, strings.Join(names, "; "))
}
