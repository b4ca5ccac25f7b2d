// Package forks forks sessions, by pointers to what the source shows, and reads the trees
// that forks form.
package forks
