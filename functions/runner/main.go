// Command runner executes runs: it calls agents and stores what they stream.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartRunner()
}
