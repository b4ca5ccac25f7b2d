// Command sweeper runs on a schedule and completes interrupted work: deletions of
// sessions, abandoned imports, erasures, and runs whose workers died. It deletes
// the sessions whose retention period has ended.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartSweeper()
}
