package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/infra/bench/meter"
)

// Folder has the data and the plots; DataFile is the record's name there.
const (
	Folder   = "docs/benchmarks"
	DataFile = "peers.json"
)

// List prices of on-demand tables in us-east-1, in dollars a million units.
const (
	WritePrice = 0.625
	ReadPrice  = 0.125
	million    = 1e6
)

const preface = `## Beside other conversation stores
What DynamoDB charges for the same conversations in Rethread and in stores that frameworks offer, measured on %s by
` + "`make bench-peers`" + `: the same engine (%s), the same texts, and the same meter. A turn is a question of %s and an answer of
%s characters. Every thread was read back after each step and compared with what had been stored. A peer is used as its documentation
shows; where it has no function for a step, the least that a user could do was measured.
[peers.json](benchmarks/peers.json) has the data, the versions, and what was called.

- **W** are write units, **R** read units. Functions and gateways are not in these tables: a peer runs in your own process, which you pay for.
- *Rethread, whole HTTP requests* and *RethreadSaver* include access checks, protection against a request that is sent twice, and
  the fan-out to watchers. The other rows are calls of a library in one process, without access control.
`

// WritePlots writes the plots into docs/benchmarks.
func (r Record) WritePlots(root string) error {
	files, err := r.Plots()
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, 0o644); err != nil { //nolint:gosec // all may read it
			return fmt.Errorf("write the plots of peers: %w", err)
		}
	}
	return nil
}

var errNoPeers = errors.New("the record has no peers: run `make bench-peers`")

// Plots returns the plots, by their paths in the repository.
func (r Record) Plots() (map[string][]byte, error) {
	if len(r.Peers) == 0 || len(r.Plan.Turns) == 0 {
		return nil, errNoPeers
	}
	files := map[string][]byte{}
	for _, p := range r.plots() {
		svg, err := p.svg()
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", p.file, err)
		}
		files[Folder+"/"+p.file] = svg
	}
	return files, nil
}

// Section is the part of docs/costs.md that compares the stores.
func (r Record) Section() (string, error) {
	if len(r.Peers) == 0 || len(r.Plan.Turns) == 0 {
		return "", errNoPeers
	}
	var b strings.Builder
	fmt.Fprintf(&b, preface, r.Date, r.Engine, number(float64(r.Plan.Question)), number(float64(r.Plan.Answer)))
	if r.Caveat != "" {
		fmt.Fprintf(&b, "- %s\n", r.Caveat)
	}
	longest := slices.Max(r.Plan.Turns)
	fmt.Fprintf(&b, "\n### A thread that grows\n\n![Write units of each turn, by the length of the thread](benchmarks/peers-writes.svg)\n\n"+
		"Units of all turns together, and the list price of the longest thread:\n\n")
	r.writes(&b, longest)
	b.WriteString("\n### Loading a thread\n\n![Read units of loading a thread](benchmarks/peers-loads.svg)\n\n")
	r.loads(&b)
	fmt.Fprintf(&b, "\n### Rewind and fork after %d turns\n\nThe newest turn is taken back, or a thread is made of all others.\n\n", r.Plan.Branch)
	r.branches(&b)
	fmt.Fprintf(&b, "\n### A streamed answer\n\n![Units of a streamed answer](benchmarks/peers-stream.svg)\n\n"+
		"An answer of %s tokens, 50 a second, in a thread of %d turns, stored so that a crash loses at most 250 ms of it. "+
		"Other stores are asked to store what has come every 250 ms.\n\n", number(float64(r.Plan.Tokens)), r.Plan.Before)
	r.streams(&b)
	r.verdict(&b)
	return b.String(), nil
}

func (r Record) writes(b *strings.Builder, longest int) {
	b.WriteString("| store |")
	for _, n := range r.Plan.Turns {
		fmt.Fprintf(b, " %d turns |", n)
	}
	fmt.Fprintf(b, " %d turns, in dollars |\n|---|%s\n", longest, strings.Repeat("---:|", len(r.Plan.Turns)+1))
	for _, p := range r.Peers {
		fmt.Fprintf(b, "| %s |", p.Name)
		for _, n := range r.Plan.Turns {
			u, ok := p.At(n)
			b.WriteString(" " + cell(u, ok, p.Failed) + " |")
		}
		u, ok := p.At(longest)
		if ok {
			fmt.Fprintf(b, " $%.5f |\n", dollars(u))
		} else {
			b.WriteString(" – |\n")
		}
	}
}

// cell is a usage, or the turn at which the peer failed before.
func cell(u meter.Usage, ok bool, failed *Failure) string {
	switch {
	case ok:
		return units(u)
	case failed != nil:
		return fmt.Sprintf("**fails at turn %d**", failed.Turn)
	}
	return "–"
}

func (r Record) loads(b *strings.Builder) {
	b.WriteString("| store |")
	for _, n := range r.Plan.Turns {
		fmt.Fprintf(b, " %d turns |", n)
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("---:|", len(r.Plan.Turns)))
	for _, p := range r.Peers {
		fmt.Fprintf(b, "| %s |", p.Name)
		for _, n := range r.Plan.Turns {
			u, ok := p.LoadAt(n)
			if wrong := p.wrongAt(n); wrong != "" {
				b.WriteString(" **wrong**: " + plain(wrong) + " |")
				continue
			}
			b.WriteString(" " + cell(u, ok, p.Failed) + " |")
		}
		b.WriteString("\n")
	}
}

func (r Record) branches(b *strings.Builder) {
	b.WriteString("| store | rewind | fork |\n|---|---:|---:|\n")
	for _, p := range r.Peers {
		fmt.Fprintf(b, "| %s | %s | %s |\n", p.Name, p.Rewind.cell(), p.Fork.cell())
	}
}

func (r Record) streams(b *strings.Builder) {
	b.WriteString("| store | units | in dollars, a thousand answers |\n|---|---:|---:|\n")
	for _, p := range r.Peers {
		price := "–"
		if p.Stream.Error == "" {
			price = fmt.Sprintf("$%.3f", 1000*dollars(p.Stream.Usage))
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", p.Name, p.Stream.cell(), price)
	}
}

func (o Outcome) cell() string {
	if o.Error != "" {
		return "**fails**: " + plain(o.Error)
	}
	return units(o.Usage)
}

// units formats a usage without the kinds of units that it has none of.
func units(u meter.Usage) string {
	var parts []string
	if u.Writes > 0 {
		parts = append(parts, number(u.Writes)+" W")
	}
	if u.Reads > 0 {
		parts = append(parts, number(u.Reads)+" R")
	}
	return strings.Join(parts, ", ")
}

func dollars(u meter.Usage) float64 {
	return (u.Writes*WritePrice + u.Reads*ReadPrice) / million
}

// plain makes a text fit into a table's cell.
func plain(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// number groups thousands and shows halves.
func number(n float64) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(n, 'f', 1, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "0" {
		whole += "." + fraction
	}
	return whole
}
