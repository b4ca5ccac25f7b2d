// Command a2a serves each configured agent over the Agent2Agent protocol, behind a
// REST API that streams.
package main

import (
	"time"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/transport/a2a"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		c, err := d.FrontEnd(invoke.Runner(d))
		if err != nil {
			return nil, err
		}
		return boot.Streaming(a2a.New(c, a2a.Config{
			Tasks: d.Store.Tasks, Links: d.Store.Tasks, Push: d.Store.Pushes, CheckURL: outbound.FromEnvironment().Check,
			PublicKeys: outbound.NewSigningKeys(d.Store.Keys, time.Now).Public, Modified: boot.Deployed(d.Log),
		}), d.Log, d.Now), nil
	})
}
