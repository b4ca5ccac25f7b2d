// Command automations handles users' automations: which agents are called with
// which input, and when.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest/hooks"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		return boot.HTTP(hooks.Automations(d.API())), nil
	})
}
