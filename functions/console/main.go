// Command console serves the page in which users chat, watch, rewind and fork.
package main

import (
	"embed"

	"github.com/rethread/rethread/shared/boot"
)

// page is built by `make console`; without it the folder contains no page.
//
//go:embed all:web/dist
var page embed.FS

func main() {
	boot.StartConsole(page, "web/dist")
}
