// Package aisdkconvert translates between events of sessions and the messages and the
// stream of messages of the AI SDK, version 7. It does no input or output.
package aisdkconvert
