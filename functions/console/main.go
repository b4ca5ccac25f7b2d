// Command console serves the page in which people chat, watch, rewind and fork.
package main

import (
	"embed"

	"github.com/rethread/rethread/shared/boot"
)

// page is what `make console` builds; without it the folder holds nothing that
// is served.
//
//go:embed all:web/dist
var page embed.FS

func main() {
	boot.StartConsole(page, "web/dist")
}
