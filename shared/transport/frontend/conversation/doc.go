// Package conversation compares what a front end sends with the session that it is
// about: which of its messages are new, whether the session is rewound before a run, and
// what the run's input is. It also reads a session's events as messages and pieces. It
// knows no protocol's format and does no input or output.
package conversation
