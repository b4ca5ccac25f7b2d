// Command aisdk serves each configured agent to useChat of the AI SDK, behind a REST API
// that streams.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartAISDK()
}
