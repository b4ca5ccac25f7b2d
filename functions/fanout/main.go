// Command fanout reads the table's changes and sends them to the sessions'
// watchers.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartFanout()
}
