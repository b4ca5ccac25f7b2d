package price

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/infra/bench/meter/scenario"
	peers "github.com/rethread/rethread/infra/bench/peers/record"
)

const preface = `# What it costs

What a use costs in AWS, at the list prices of %s as of %s (infra/bench/price/list.go): a quantity times a price in each
line. Other pages and the README take their numbers from this one, and tests compare them. Free tiers are not deducted. Not included: taxes,
what agents and models cost, and X-Ray, which the template turns on and which costs $5 a million recorded traces: by default the first
request of each second, and 5 %% of the others.

` + "`make meter`" + ` measured whole HTTP requests on %s, through the local system: capacity units, requests, messages, invocations,
logs and bytes sent, with access, quotas, idempotency and fan-out (docs/benchmarks/meter.json). Sessions have %s turns before.
Units are exact, but a streamed answer has fewer flushes on a busy machine. The run time of functions on Lambda is assumed, not
measured: %s ms for a request, %s ms for a batch of changes, at the memory sizes of template.yaml; the worker runs as long as
its agent. In long threads it takes up to 0.12 s more for each 100 turns that it reads
([measured for ADR 59](benchmarks/decisions.md#59-the-worker-has-160-mb)), which is not included.

`

const uses = `
What comes on top, from parts that ` + "`make bench`" + ` measured at the store (infra/bench/price/measures.json):

| use | cost |
|---|---:|
`

// notes has what was measured otherwise; a test of the handlers measures its lists.
//
//go:embed notes.md
var notes string

// Page writes docs/costs.md.
func Page(out io.Writer, measures Measures, record scenario.Record, others peers.Record) error {
	a := &accountant{prices: list(), measures: measures, record: record}
	wholes, bills := a.wholes(), a.bills()
	if a.missing != nil {
		return a.missing
	}
	var b strings.Builder
	fmt.Fprintf(&b, preface, Region, Read, record.Date, number(History), number(requestSeconds*1000), number(fanoutSeconds*1000))
	table(&b, wholes)
	b.WriteString(uses)
	for _, bill := range bills {
		fmt.Fprintf(&b, "| %s | %s |\n", bill.Title, dollars(bill.Total()))
	}
	b.WriteString("\n" + record.Section())
	measures.table(&b)
	b.WriteString("\n" + notes + "\n")
	section, err := others.Section()
	if err != nil {
		return err
	}
	b.WriteString(section + "\n## Item by item\n")
	for _, bill := range slices.Concat(wholes, bills) {
		bill.write(&b)
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// table writes the units of operations at the store.
func (m Measures) table(out *strings.Builder) {
	out.WriteString("\n## Units at the store\nWithout access, quotas and fan-out, by `make bench`.\n\n| operation | writes | reads |\n|---|---:|---:|\n")
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		fmt.Fprintf(out, "| %s | %s | %s |\n", name, number(m.Operations[name].Writes), number(m.Operations[name].Reads))
	}
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
	fmt.Fprintf(out, "\n### %s: %s\n%s\n\n| what | how many | | list price | cost |\n|---|---|---:|---|---:|\n",
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
