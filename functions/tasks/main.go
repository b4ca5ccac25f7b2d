// Command tasks answers for tasks, their messages and feedback.
package main

import (
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/httpapi"
)

func main() {
	boot.Start(func(d boot.Deps) any {
		return boot.HTTP(httpapi.Tasks(d.API()))
	})
}
