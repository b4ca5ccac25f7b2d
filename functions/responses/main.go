// Command responses serves Open Responses, with each configured agent as a model, behind
// a REST API that streams.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartResponses()
}
