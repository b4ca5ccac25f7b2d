// Package watch tests clients/go/watch against the system's own code, which the module of
// the clients must not need.
package watch
