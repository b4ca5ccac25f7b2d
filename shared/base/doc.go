// Package base is the folder of what every layer may use and what knows nothing of
// Rethread: faults and how they are written for callers (RFC 9457), JSON read and
// written member by member, and waiting.
//
// It imports nothing but the standard library, libraries, and itself. What knows a
// session, a user or a table belongs further up.
package base
