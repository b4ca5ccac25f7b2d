// Command webhooks answers for webhooks: where users want to be told over HTTP
// what happens in their sessions.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartWebhooks()
}
