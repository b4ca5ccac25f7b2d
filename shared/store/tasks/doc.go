// Package tasks stores tasks: a pointer for each id, and the task itself at the position of
// its first invocation, so that a list follows the log. It also stores the copies that keep a
// fork's tasks as they were, guests' links to their tasks over A2A, and the marks of feedback.
package tasks
