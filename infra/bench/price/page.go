package price

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

const preface = `# What it costs

` + "`make bench`" + ` prints this page from the capacity units that it measured after %d turns
(infra/bench/price/measures.json), the requests that each use takes, and the list prices of AWS in
%s as of %s (infra/bench/price/list.go). Every line is a quantity times a price. Free tiers are
not deducted. Taxes, data transfer out, logs and traces are not included.

The table's units are measured and exact. The run time of functions on Lambda is assumed, not measured:
%s ms for a request, %s ms for a batch of changes, at the memory sizes of template.yaml.

| use | cost |
|---|---:|
`

// Page writes docs/costs.md.
func Page(out io.Writer, measures Measures) error {
	a := &accountant{prices: list(), measures: measures}
	bills := a.bills()
	if a.missing != nil {
		return a.missing
	}
	var b strings.Builder
	fmt.Fprintf(&b, preface, History, Region, Read, number(requestSeconds*1000), number(fanoutSeconds*1000))
	for _, bill := range bills {
		fmt.Fprintf(&b, "| %s | %s |\n", bill.Title, dollars(bill.Total()))
	}
	for _, bill := range bills {
		bill.write(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
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
