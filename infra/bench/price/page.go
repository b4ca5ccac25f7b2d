package price

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rethread/rethread/infra/bench/meter/scenario"
)

const preface = `# What it costs

Everything that a use costs in AWS, at the list prices of %s as of %s (infra/bench/price/list.go). ` + "`make meter`" + ` measured
the first table on %s, through the whole local system: capacity units, requests, messages, invocations, logs and bytes sent of
whole HTTP requests, access, quotas, idempotency and fan-out included (docs/benchmarks/meter.json). Sessions have %s turns.
Every line is a quantity times a price. Free tiers are not deducted. Taxes and traces are not included.

Units are exact, but a streamed answer has fewer flushes on a busy machine. The run time of functions on Lambda is assumed, not
measured: %s ms for a request, %s ms for a batch of changes, at the memory sizes of template.yaml; the worker runs as long as
its agent. In long threads it takes up to 0.12 s more for each 100 turns that it reads
([ADR 59](adr/0059-the-worker-has-160-mb.md)), which is not included.

`

const uses = `
## What comes on top

The parts of these uses were measured at the store after %s turns (` + "`make bench`" + `, infra/bench/price/measures.json).

| use | cost |
|---|---:|
`

// lists has what pages of lists cost, which a test of their handlers measures.
//
//go:embed lists.md
var lists string

// Page writes docs/costs.md.
func Page(out io.Writer, measures Measures, record scenario.Record) error {
	a := &accountant{prices: list(), measures: measures, record: record}
	wholes, bills := a.wholes(), a.bills()
	if a.missing != nil {
		return a.missing
	}
	var b strings.Builder
	fmt.Fprintf(&b, preface, Region, Read, record.Date, number(History), number(requestSeconds*1000), number(fanoutSeconds*1000))
	table(&b, wholes)
	for _, bill := range wholes {
		bill.write(&b)
	}
	fmt.Fprintf(&b, uses, number(History))
	for _, bill := range bills {
		fmt.Fprintf(&b, "| %s | %s |\n", bill.Title, dollars(bill.Total()))
	}
	for _, bill := range bills {
		bill.write(&b)
	}
	b.WriteString(lists)
	_, err := io.WriteString(out, b.String())
	return err
}

// table writes whole costs by service.
func table(out *strings.Builder, bills []bill) {
	out.WriteString("| use |")
	for _, s := range services() {
		out.WriteString(" " + string(s) + " |")
	}
	out.WriteString(" **all in** |\n|---|" + strings.Repeat("---:|", len(services())+1) + "\n")
	for _, b := range bills {
		fmt.Fprintf(out, "| %s |", b.Title)
		for _, s := range services() {
			fmt.Fprintf(out, " %s |", dollars(b.of(s)))
		}
		fmt.Fprintf(out, " **%s** |\n", dollars(b.Total()))
	}
}

func (b bill) write(out *strings.Builder) {
	fmt.Fprintf(out, "\n## %s: %s\n%s\n\n| what | how many | | list price | cost |\n|---|---|---:|---|---:|\n",
		b.Title, dollars(b.Total()), b.About)
	for _, l := range b.Lines {
		if l.Quantity > 0 {
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", l.What, l.Formula, number(l.Quantity), l.Price.List, dollars(l.Cost()))
		}
	}
}

// dollars formats an amount with four decimals, because the smallest prices need them.
func dollars(d float64) string { return "$" + strconv.FormatFloat(d, 'f', 4, 64) }

// number groups thousands and omits trailing zeros of the decimals.
func number(n float64) string {
	decimals := 3
	if n >= 1000 {
		decimals = 0
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(n, 'f', decimals, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += "." + fraction
	}
	return whole
}
