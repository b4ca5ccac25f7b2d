// Command sse serves one session as server-sent events, behind a REST API that
// streams.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartSSE()
}
