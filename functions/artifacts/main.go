// Command artifacts handles the artifacts of sessions.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest/artifacts"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		return boot.HTTP(artifacts.New(d.API())), nil
	})
}
