// Command erasure deletes everything that a user owns, and reports its progress.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		return boot.HTTP(sessions.Erasure(d.API())), nil
	})
}
