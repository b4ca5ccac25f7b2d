// Command webhooks handles webhooks: the URLs to which users have events of their
// sessions sent.
package main

import "github.com/rethread/rethread/shared/boot/deliveries"

func main() {
	deliveries.StartWebhooks()
}
