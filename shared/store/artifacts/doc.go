// Package artifacts stores the versions of artifacts with their bytes, of a session or of a
// user's sessions in an app, and what forks inherit of them. References between versions are
// resolved when they are read. Which versions a rewind restores is decided by package history.
package artifacts
