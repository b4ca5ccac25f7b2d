// Command fanout reads the table's changes and tells whoever watches.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartFanout()
}
