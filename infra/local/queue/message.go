package queue

import (
	"crypto/md5" //nolint:gosec // SQS names messages' digests so; nothing is secured by them
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// senderID is the account of every sender.
const senderID = "local"

// Message is a message in a queue.
type Message struct {
	ID   string
	Body string
	// Attributes are the sender's attributes, by name.
	Attributes map[string]Attribute
	Sent       time.Time
	// Group orders messages, in a FIFO queue.
	Group string
	// Deduplication and Sequence, which increases, belong to FIFO queues.
	Deduplication, Sequence string
	// Source is the ARN of the queue that the message was moved from; only set in a
	// dead letter queue.
	Source string
}

// Attribute is a value sent with the body.
type Attribute struct {
	DataType    string // String, Number or Binary, optionally with a suffix after a dot
	StringValue string
	BinaryValue []byte
}

// binary reports which of the two values is set.
func (a Attribute) binary() bool { return strings.HasPrefix(a.DataType, "Binary") }

// Received is a message in flight.
type Received struct {
	Message
	// Receipt identifies the message for its receiver until it is received again.
	Receipt string
	// Receives is how often the message was received, including this time.
	Receives      int
	FirstReceived time.Time
}

// System returns the message's system attributes.
func (r Received) System() map[string]string {
	all := map[string]string{
		"SenderId":                         senderID,
		"SentTimestamp":                    strconv.FormatInt(r.Sent.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(r.Receives),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(r.FirstReceived.UnixMilli(), 10),
		"MessageGroupId":                   r.Group,
		"MessageDeduplicationId":           r.Deduplication,
		"SequenceNumber":                   r.Sequence,
		"DeadLetterQueueSourceArn":         r.Source,
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// BodyDigest is the body's MD5 in hexadecimal, which SQS clients verify.
func (m Message) BodyDigest() string { return digest([]byte(m.Body)) }

// AttributesDigest is the MD5 of the attributes, computed as in the Developer
// Guide's "Calculating the MD5 message digest for message attributes"; empty
// without attributes.
func (m Message) AttributesDigest() string {
	if len(m.Attributes) == 0 {
		return ""
	}
	var encoded []byte
	put := func(text []byte) {
		encoded = binary.BigEndian.AppendUint32(encoded, uint32(len(text))) //nolint:gosec // 1 MiB at most
		encoded = append(encoded, text...)
	}
	const isString, isBinary = 1, 2
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		attribute := m.Attributes[name]
		put([]byte(name))
		put([]byte(attribute.DataType))
		if attribute.binary() {
			encoded = append(encoded, isBinary)
			put(attribute.BinaryValue)
			continue
		}
		encoded = append(encoded, isString)
		put([]byte(attribute.StringValue))
	}
	return digest(encoded)
}

func digest(text []byte) string {
	sum := md5.Sum(text) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}
