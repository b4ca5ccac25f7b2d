// Command imports imports sessions: documents of other deployments, lists of
// tasks, and sessions of google-adk.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/rest/archives"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		return boot.HTTP(archives.Import(d.API())), nil
	})
}
