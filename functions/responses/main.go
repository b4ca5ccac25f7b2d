// Command responses serves Open Responses, with each configured agent as a model, behind
// a REST API that streams.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/transport/openresponses"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		c, err := d.FrontEnd(invoke.Runner(d))
		if err != nil {
			return nil, err
		}
		return boot.Streaming(openresponses.New(c, d), d.Log, d.Now), nil
	})
}
