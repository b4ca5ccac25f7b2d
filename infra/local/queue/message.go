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

// senderID stands for the account of a sender, which nothing here tells apart.
const senderID = "local"

// Message is what arrived.
type Message struct {
	ID   string
	Body string
	// Attributes are the sender's own, by name.
	Attributes map[string]Attribute
	Sent       time.Time
	// Group keeps messages in order, in a FIFO queue.
	Group string
	// Deduplication is a FIFO queue's, as is Sequence, which grows.
	Deduplication, Sequence string
	// Source is the ARN of the queue in which the message was received in vain;
	// empty anywhere but in a dead letter queue.
	Source string
}

// Attribute is a value that travels beside the body.
type Attribute struct {
	DataType    string // String, Number or Binary, and what the sender adds after a dot
	StringValue string
	BinaryValue []byte
}

// binary says which of the two values holds.
func (a Attribute) binary() bool { return strings.HasPrefix(a.DataType, "Binary") }

// Received is a message as a receiver has it.
type Received struct {
	Message
	// Receipt is what the receiver names it by, until it is received again.
	Receipt string
	// Receives counts the times that it was received, this one included.
	Receives      int
	FirstReceived time.Time
}

// System are the attributes that SQS itself gives a message.
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

// BodyDigest is the body's MD5 in hexadecimal, which senders and receivers compare.
func (m Message) BodyDigest() string { return digest([]byte(m.Body)) }

// AttributesDigest is that of the attributes in the form of the Developer Guide's
// "Calculating the MD5 message digest for message attributes"; empty without any.
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
