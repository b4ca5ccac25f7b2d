package queue

import (
	"strings"
	"time"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// Limits of SQS.
const (
	mostAttributes = 10
	maxBytes       = 1 << 20 // of a body and its attributes
	maxDelay       = 15 * time.Minute
	maxIDLength    = 128
)

// Draft is a message to send.
type Draft struct {
	Body       string
	Attributes map[string]Attribute
	// Group is required by a FIFO queue and optional otherwise.
	Group string
	// Deduplication is required by a FIFO queue.
	Deduplication string
	// Delay hides the message at first; a FIFO queue does not allow it.
	Delay time.Duration
}

// Size is the message's size as limited by SQS, in bytes.
func (d Draft) Size() int {
	size := len(d.Body)
	for name, a := range d.Attributes {
		size += len(name) + len(a.DataType) + len(a.StringValue) + len(a.BinaryValue)
	}
	return size
}

// check returns an Error if the queue would refuse the message.
func (d Draft) check(q samtemplate.Queue) error {
	switch {
	case d.Body == "":
		return Refuse(CodeMissingParameter, "The request must contain the parameter MessageBody.")
	case d.Size() > maxBytes:
		return Refuse(CodeInvalidValue,
			"One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", maxBytes)
	case strings.ContainsFunc(d.Body, isForbidden):
		return Refuse(CodeInvalidContents, "The message contains characters outside the allowed set.")
	case d.Delay < 0 || d.Delay > maxDelay:
		return Refuse(CodeInvalidValue, "Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.",
			int(d.Delay.Seconds()))
	}
	if err := d.checkAttributes(); err != nil {
		return err
	}
	return d.checkKind(q)
}

// checkKind checks what differs between FIFO and standard queues.
func (d Draft) checkKind(q samtemplate.Queue) error {
	for parameter, id := range map[string]string{"MessageGroupId": d.Group, "MessageDeduplicationId": d.Deduplication} {
		if len(id) > maxIDLength || strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' }) {
			return Refuse(CodeInvalidValue,
				"Value %s for parameter %s is invalid. Reason: %[2]s can only include alphanumeric and punctuation characters. 1 to 128 in length.",
				id, parameter)
		}
	}
	switch {
	case !q.FIFO && d.Deduplication != "":
		return Refuse(CodeInvalidValue,
			"Value %s for parameter MessageDeduplicationId is invalid. Reason: The request includes a parameter that is not valid for this queue type.",
			d.Deduplication)
	case q.FIFO && d.Group == "":
		return Refuse(CodeMissingParameter, "The request must contain the parameter MessageGroupId.")
	case q.FIFO && d.Deduplication == "":
		return Refuse(CodeInvalidValue,
			"The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
	case q.FIFO && d.Delay != 0:
		return Refuse(CodeInvalidValue,
			"Value %d for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.",
			int(d.Delay.Seconds()))
	}
	return nil
}

func (d Draft) checkAttributes() error {
	if len(d.Attributes) > mostAttributes {
		return Refuse(CodeInvalidValue, "Number of message attributes [%d] exceeds the allowed maximum [%d].",
			len(d.Attributes), mostAttributes)
	}
	for name, a := range d.Attributes {
		kind, _, _ := strings.Cut(a.DataType, ".")
		switch {
		case name == "":
			return Refuse(CodeInvalidValue, "The message attribute name must not be empty.")
		case kind != "String" && kind != "Number" && kind != "Binary":
			return Refuse(CodeInvalidValue, "The type of message (user) attribute '%s' is invalid. "+
				"You must use only the following supported type prefixes: Binary, Number, String.", name)
		case a.binary() != (len(a.BinaryValue) > 0), a.binary() == (a.StringValue != ""):
			return Refuse(CodeInvalidValue, "The message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, kind)
		}
	}
	return nil
}

// isForbidden reports whether XML 1.0 cannot represent the character.
func isForbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF'
}
