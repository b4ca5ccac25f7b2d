// Command shares answers for who is let into sessions.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/httpapi"
)

func main() {
	boot.Start(func(d boot.Deps) any {
		return boot.HTTP(httpapi.Shares(d.API()))
	})
}
