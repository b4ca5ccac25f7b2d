// Package adk tests clients/go/adk against the system's own code, which the module of
// the clients must not need.
package adk
