// Command dispatch reads the table's changes and queues deliveries for webhooks,
// A2A push notifications and automations.
package main

import "github.com/rethread/rethread/shared/boot/deliveries"

func main() {
	deliveries.StartDispatch()
}
