// Package modeltest contains only tests: it checks the store against a naive model
// with full copies of everything, concurrent histories for linearizability, and
// every operation for the effects of a crash during it.
package modeltest
