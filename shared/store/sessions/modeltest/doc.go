// Package modeltest holds no code but tests: it checks the store against a
// naive model that keeps full copies of everything, concurrent histories for
// linearizability, and every operation for what a crash in its midst leaves.
package modeltest
