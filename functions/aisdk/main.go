// Command aisdk serves each configured agent to useChat of the AI SDK, behind a REST API
// that streams.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/transport/aisdk"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		c, err := d.FrontEnd(invoke.Runner(d))
		if err != nil {
			return nil, err
		}
		return boot.Streaming(aisdk.New(c), d.Log, d.Now), nil
	})
}
