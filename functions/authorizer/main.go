// Command authorizer says who asks, to the gateways that verify no tokens of
// their own: the WebSocket API and the REST API that streams.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartAuthorizer()
}
