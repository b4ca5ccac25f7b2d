// Package base is the folder of general packages that every layer may use: faults and
// their form for callers (RFC 9457), JSON read and written member by member, JSON Patch, retries,
// waiting and the clock.
//
// It imports only the standard library, third-party libraries, and itself. Code that
// involves sessions, users or tables belongs in higher layers.
package base
