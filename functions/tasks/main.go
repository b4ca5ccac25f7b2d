// Command tasks handles tasks, their messages and feedback.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
	"github.com/rethread/rethread/shared/transport/rest/tasks"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		c := d.API()
		c.A2ATasks = a2aconvert.Reader{Sessions: c.Sessions, Tasks: c.Tasks}.SessionTasks
		return boot.HTTP(tasks.New(c)), nil
	})
}
