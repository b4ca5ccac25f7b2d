// Command automations handles the automations of users: which agents are
// asked what, and when.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest"
)

func main() {
	boot.Start(func(d boot.Deps) any {
		return boot.HTTP(rest.Automations(d.API()))
	})
}
