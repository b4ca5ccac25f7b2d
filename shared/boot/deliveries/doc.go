// Package deliveries wires the queues of deliveries. It is not part of boot, so that no other
// function links the client of queues.
package deliveries
