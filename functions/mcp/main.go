// Command mcp serves the caller's sessions over the Model Context Protocol.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartMCP()
}
