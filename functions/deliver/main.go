// Command deliver sends queued deliveries to their receivers until they are
// accepted.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartDeliver()
}
