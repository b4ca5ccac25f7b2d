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

// DataFile is the record's name in the folder of benchmarks.
const DataFile = "peers.json"

// List prices of on-demand tables in us-east-1, in dollars a million units, as in
// docs/costs.md.
const (
	writePrice = 0.625
	readPrice  = 0.125
	million    = 1e6
)

const preface = `# Rethread and other conversation stores, side by side

What DynamoDB charges for the same conversations in Rethread and in stores that frameworks offer, measured on %s by
` + "`make bench-peers`" + `: the same engine (%s), the same texts, and the same meter, a proxy that counts every request in the
units that AWS charges. A turn is a question of %s and an answer of %s characters of ordinary English (infra/bench/prose). Every thread
was read back after each step and compared with what had been stored. The data is [peers.json](peers.json).

How to read the tables:

- **W** are write units, **R** read units; on-demand tables cost $%v and $%v a million of them in us-east-1. Functions and gateways
  are not in these tables: a peer runs in your own process, which you pay for. [Costs](../costs.md) has what Rethread costs with
  everything on the way.
- *Rethread, whole HTTP requests* and *RethreadSaver* include access checks, protection against a request that is sent twice, and
  the fan-out to watchers. The other rows are calls of a library in one process, without access control.
- A peer is used as its documentation shows. Where it has no function for a step, the least that a user could do was measured;
  [what was called](#what-was-called) says so.
`

// WritePages writes the page and the plots into docs/benchmarks.
func (r Record) WritePages(root string) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, 0o644); err != nil { //nolint:gosec // all may read it
			return fmt.Errorf("write the pages of peers: %w", err)
		}
	}
	return nil
}

var errNoPeers = errors.New("the record has no peers: run `make bench-peers`")

// Files returns the page and the plots, by their paths in the repository.
func (r Record) Files() (map[string][]byte, error) {
	if len(r.Peers) == 0 || len(r.Plan.Turns) == 0 {
		return nil, errNoPeers
	}
	files := map[string][]byte{"docs/benchmarks/peers.md": []byte(r.page())}
	for _, p := range r.plots() {
		svg, err := p.svg()
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", p.file, err)
		}
		files["docs/benchmarks/"+p.file] = svg
	}
	return files, nil
}

func (r Record) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, preface, r.Date, r.Engine, number(float64(r.Plan.Question)), number(float64(r.Plan.Answer)), writePrice, readPrice)
	if r.Caveat != "" {
		fmt.Fprintf(&b, "- %s\n", r.Caveat)
	}
	longest := slices.Max(r.Plan.Turns)
	fmt.Fprintf(&b, "\n## A thread that grows\n\n![Write units of each turn, by the length of the thread](peers-writes.svg)\n\n"+
		"Units of all turns together, and the list price of the longest thread:\n\n")
	r.writes(&b, longest)
	b.WriteString("\n## Loading a thread\n\n![Read units of loading a thread](peers-loads.svg)\n\n")
	r.loads(&b)
	fmt.Fprintf(&b, "\n## Rewind and fork after %d turns\n\nThe newest turn is taken back, or a thread is made of all others.\n\n", r.Plan.Branch)
	r.branches(&b)
	fmt.Fprintf(&b, "\n## A streamed answer\n\n![Units of a streamed answer](peers-stream.svg)\n\n"+
		"An answer of %s tokens, 50 a second, in a thread of %d turns, stored so that a crash loses at most 250 ms of it. "+
		"Other stores are asked to store what has come every 250 ms.\n\n", number(float64(r.Plan.Tokens)), r.Plan.Before)
	r.streams(&b)
	b.WriteString("\n## LangGraph's savers\n\nThe same graph, with Rethread's saver and with that of langgraph-checkpoint-aws:\n")
	r.savers(&b)
	r.verdict(&b)
	r.called(&b)
	return b.String()
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

func (r Record) called(b *strings.Builder) {
	b.WriteString("\n## What was called\n\n| store | packages | write | load | rewind | fork | stream |\n|---|---|---|---|---|---|---|\n")
	for _, p := range r.Peers {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", p.Name, strings.Join(p.Packages, ", "),
			p.How.Write, p.How.Load, p.How.Rewind, p.How.Fork, p.How.Stream)
	}
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
	return (u.Writes*writePrice + u.Reads*readPrice) / million
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
