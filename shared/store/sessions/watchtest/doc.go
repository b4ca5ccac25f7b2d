// Package watchtest holds no code but tests: a client that follows sessions of
// the real store by what the stream of its table tells.
package watchtest
