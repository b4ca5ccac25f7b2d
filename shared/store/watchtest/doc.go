// Package watchtest contains only tests: a client that follows sessions of the real
// store by the stream of its table.
package watchtest
