// Package usage stores what users have and may have: bytes, sessions, and the slots of their
// runs and streams, by user. Who is refused when is decided by the domain's quota.Limits. What
// is counted of a session or a run is counted by their own packages.
package usage
