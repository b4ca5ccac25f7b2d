// Package lifecycle ends what the other packages store: it deletes sessions, at once or by
// their retention, sweeps what deletions leave, and erases users. Packages whose items go with
// a session or a user are its Dependents.
package lifecycle
