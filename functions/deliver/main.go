// Command deliver brings what is queued to those who asked to be told, until
// they have it.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartDeliver()
}
