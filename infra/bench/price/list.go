// Package price calculates the cost of using Rethread in AWS list prices: it
// multiplies the units measured by infra/bench/cost, and the requests of a use, by
// the prices of one region. It prints docs/costs.md.
package price

// Region and Read are the region and the date of the prices below, which exclude
// free tiers, savings plans, taxes and data transfer.
const (
	Region = "us-east-1"
	Read   = "2026-11-21"
)

const million = 1e6

// price is the price of a unit, in dollars and as in price lists.
type price struct {
	Dollars float64
	List    string
}

// prices is the price list, in dollars.
type prices struct {
	TableWrite, TableRead, TableStorage, TableBackup price
	FunctionTime, FunctionRequest                    price
	HTTPRequest, StreamRequest                       price
	SocketMessage, SocketMinute                      price
	AlarmMetric, QueueRequest, PlainQueueRequest     price
	CustomMetric, LogGigabyte, BusEvent              price
}

// list is the price list of the Region on the day of Read.
func list() prices {
	return prices{
		TableWrite:   price{0.625 / million, "$0.625 a million write units"},
		TableRead:    price{0.125 / million, "$0.125 a million read units"},
		TableStorage: price{0.25, "$0.25 a GB-month"},
		TableBackup:  price{0.20, "$0.20 a GB-month"},

		FunctionTime:    price{0.0000133334, "$0.0000133334 a GB-second (arm64)"},
		FunctionRequest: price{0.20 / million, "$0.20 a million"},

		HTTPRequest:   price{1.00 / million, "$1.00 a million"},
		StreamRequest: price{3.50 / million, "$3.50 a million"},
		SocketMessage: price{1.00 / million, "$1.00 a million of up to 32 KB"},
		SocketMinute:  price{0.25 / million, "$0.25 a million"},

		AlarmMetric:       price{0.10, "$0.10 a month"},
		PlainQueueRequest: price{0.40 / million, "$0.40 a million (standard)"},
		QueueRequest:      price{0.50 / million, "$0.50 a million (FIFO)"},
		CustomMetric:      price{0.30, "$0.30 a month"},
		LogGigabyte:       price{0.50, "$0.50 a GB"},
		BusEvent:          price{1.00 / million, "$1.00 a million"},
	}
}
