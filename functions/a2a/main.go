// Command a2a serves each configured agent over the Agent2Agent protocol, behind a
// REST API that streams.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartA2A()
}
