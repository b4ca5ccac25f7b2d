// Package archives exports sessions to documents and imports them part by part. An import
// becomes a session by one transaction, and until then nothing shows it.
package archives
