// Command rewind takes sessions back to before an invocation.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/httpapi"
)

func main() {
	boot.Start(func(d boot.Deps) any {
		return boot.HTTP(httpapi.Rewind(d.API()))
	})
}
