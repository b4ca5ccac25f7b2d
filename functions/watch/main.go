// Command watch serves the WebSocket API: clients connect, and subscribe to
// sessions.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartWatch()
}
