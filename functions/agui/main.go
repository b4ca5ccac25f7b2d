// Command agui serves each configured agent over AG-UI, behind a REST API that
// streams.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/transport/agui"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		c, err := d.FrontEnd(invoke.Runner(d))
		if err != nil {
			return nil, err
		}
		return boot.Streaming(agui.New(c), d.Log, d.Now), nil
	})
}
