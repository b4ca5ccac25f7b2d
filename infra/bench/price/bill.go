package price

import (
	"fmt"

	"github.com/rethread/rethread/infra/bench/meter/scenario"
)

// bill is the cost of one use.
type bill struct {
	Title string
	About string
	Lines []line
}

// line is an item of a bill, with the calculation of its quantity.
type line struct {
	What     string
	Formula  string
	Quantity float64
	Price    price
}

// Cost is in dollars.
func (l line) Cost() float64 { return l.Quantity * l.Price.Dollars }

// Total is in dollars.
func (b bill) Total() float64 {
	total := 0.0
	for _, l := range b.Lines {
		total += l.Cost()
	}
	return total
}

// of returns the cost of a service, in dollars.
func (b bill) of(s service) float64 {
	total := 0.0
	for _, l := range b.Lines {
		if l.Price.Service == s {
			total += l.Cost()
		}
	}
	return total
}

// accountant writes bills.
type accountant struct {
	prices
	measures Measures
	record   scenario.Record
	missing  error // the error for an operation that was not measured
}

func (a *accountant) units(operation string) Units {
	units, ok := a.measures.Operations[operation]
	if !ok && a.missing == nil {
		a.missing = fmt.Errorf("%q was not measured: record the measures again", operation)
	}
	return units
}

func (a *accountant) writes(times float64, operation string) line {
	units := a.units(operation).Writes
	return line{"table writes", fmt.Sprintf("%s × %s units: %s", number(times), number(units), operation), times * units, a.TableWrite}
}

func (a *accountant) reads(times float64, operation string) line {
	units := a.units(operation).Reads
	return line{"table reads", fmt.Sprintf("%s × %s units: %s", number(times), number(units), operation), times * units, a.TableRead}
}

// functions are invocations and their durations.
func (a *accountant) functions(what string, times, seconds, gigabytes float64) []line {
	return []line{
		{what + ": invocations", number(times), times, a.FunctionRequest},
		{
			what + ": time", fmt.Sprintf("%s × %s s × %s GB", number(times), number(seconds), number(gigabytes)),
			times * seconds * gigabytes, a.FunctionTime,
		},
	}
}
