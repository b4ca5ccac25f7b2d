// Command fork forks sessions and returns the tree of their forks.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		return boot.HTTP(sessions.Fork(d.API())), nil
	})
}
