// Command sessions handles sessions and their state.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		return boot.HTTP(sessions.Sessions(d.API())), nil
	})
}
