// Command export streams whole sessions as documents, behind a REST API that
// streams.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartExport()
}
