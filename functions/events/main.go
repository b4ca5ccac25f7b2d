// Command events appends events to the logs of sessions and reads them.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest/sessions"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		return boot.HTTP(sessions.Events(d.API())), nil
	})
}
