// Command sweeper finishes what was cut short, on a schedule: deletions of
// sessions, imports that nobody goes on with, erasures, and runs whose workers died.
// It deletes the sessions whose retention is over.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartSweeper()
}
