// Command tasks handles tasks, their messages and feedback.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest"
)

func main() {
	boot.Start(func(d boot.Deps) any {
		return boot.HTTP(rest.Tasks(d.API()))
	})
}
