// Command runs starts and ends the runs of sessions, accepts what external agents
// push, and reads threads.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/transport/rest/runs"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		c := d.API()
		c.StartRun = invoke.Runner(d)
		return boot.HTTP(runs.New(c)), nil
	})
}
