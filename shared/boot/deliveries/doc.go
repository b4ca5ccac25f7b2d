// Package deliveries wires the queues of deliveries, the function that fills them, and the
// routes of webhooks. It is not part of boot, so that no other function links the clients
// of queues and event buses.
package deliveries
