// Command post sends messages to a part of the watchers of a session that has many.
package main

import "github.com/rethread/rethread/shared/boot"

func main() {
	boot.StartPost()
}
