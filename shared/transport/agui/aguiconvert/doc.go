// Package aguiconvert translates between events of sessions and the messages, the
// events and the input of AG-UI, version 1.0. It does no input or output.
package aguiconvert

// Version is the version of the protocol that streams declare.
const Version = "1.0"
