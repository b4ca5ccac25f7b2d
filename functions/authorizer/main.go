// Command authorizer authenticates callers for the gateways that cannot verify
// tokens: the WebSocket API and the REST API that streams.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartAuthorizer()
}
