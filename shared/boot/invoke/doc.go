// Package invoke has functions invoke others: the runner for runs, post for parts of crowds.
// It is not part of boot, so that no other function links the client of Lambda.
package invoke
