// Package calls tests the client of the HTTP API in clients/go against the contract
// and as others install it. It has no code of its own.
package calls
