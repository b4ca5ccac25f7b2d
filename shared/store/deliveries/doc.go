// Package deliveries is what is kept of deliveries: webhooks with their secrets and the
// records of what was sent, the addresses of A2A's clients with the keys that sign for them,
// automations with the runs that each started, and the deliveries that wait for slow
// targets, lane by lane. They are one room, since to delete a target is one transaction with
// its idle lane.
package deliveries
