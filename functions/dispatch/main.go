// Command dispatch reads the table's changes and queues what others asked to
// be told.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartDispatch()
}
