// Command agui serves each configured agent over AG-UI, behind a REST API that
// streams.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartAGUI()
}
