// Package watchtest holds no code but tests: a client that follows sessions of
// the real store by what the table's own stream tells.
package watchtest
