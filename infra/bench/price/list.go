// Package price calculates the cost of using Rethread in AWS list prices: it
// multiplies the units measured by infra/bench/cost, and the requests of a use, by
// the prices of one region. It prints docs/costs.md.
package price

import "github.com/rethread/rethread/infra/bench/peers/record"

// Region and Read are the region and the date of the prices below, which exclude
// free tiers, savings plans and taxes.
const (
	Region = "us-east-1"
	Read   = "2026-11-21"
)

const million = 1e6

// price is the price of a unit of a service, in dollars and as in price lists.
type price struct {
	Service service
	Dollars float64
	List    string
}

// service is a column of the table of whole costs.
type service string

const (
	dynamodb   service = "DynamoDB"
	lambda     service = "Lambda"
	gateways   service = "gateways"
	queues     service = "queues"
	monitoring service = "logs, alarms"
	transfer   service = "transfer"
)

// services are the columns in their order. Reading the table's stream is free for
// functions, so it has no column.
func services() []service {
	return []service{dynamodb, lambda, gateways, queues, monitoring, transfer}
}

// prices is the price list, in dollars.
type prices struct {
	TableWrite, TableRead, TableStorage, TableBackup price
	FunctionTime, FunctionRequest                    price
	HTTPRequest, StreamRequest                       price
	SocketMessage, SocketMinute                      price
	AlarmMetric, QueueRequest, PlainQueueRequest     price
	CustomMetric, Dashboard, LogGigabyte, BusEvent   price
	SentGigabyte                                     price
}

// list is the price list of the Region on the day of Read.
func list() prices {
	return prices{
		TableWrite:   price{dynamodb, record.WritePrice / million, "$0.625 a million write units"},
		TableRead:    price{dynamodb, record.ReadPrice / million, "$0.125 a million read units"},
		TableStorage: price{dynamodb, 0.25, "$0.25 a GB-month"},
		TableBackup:  price{dynamodb, 0.20, "$0.20 a GB-month"},

		FunctionTime:    price{lambda, 0.0000133334, "$0.0000133334 a GB-second (arm64)"},
		FunctionRequest: price{lambda, 0.20 / million, "$0.20 a million"},

		HTTPRequest:   price{gateways, 1.00 / million, "$1.00 a million"},
		StreamRequest: price{gateways, 3.50 / million, "$3.50 a million"},
		SocketMessage: price{gateways, 1.00 / million, "$1.00 a million of up to 32 KB"},
		SocketMinute:  price{gateways, 0.25 / million, "$0.25 a million"},

		AlarmMetric:       price{monitoring, 0.10, "$0.10 a month"},
		PlainQueueRequest: price{queues, 0.40 / million, "$0.40 a million (standard)"},
		QueueRequest:      price{queues, 0.50 / million, "$0.50 a million (FIFO)"},
		CustomMetric:      price{monitoring, 0.30, "$0.30 a month"},
		LogGigabyte:       price{monitoring, 0.50, "$0.50 a GB"},
		Dashboard:         price{monitoring, 3.00, "$3.00 a month"},
		SentGigabyte:      price{transfer, 0.09, "$0.09 a GB"},
		BusEvent:          price{queues, 1.00 / million, "$1.00 a million"},
	}
}
