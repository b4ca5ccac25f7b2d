package queue

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// maxHidden is how long a message can be hidden in all, once it was received.
const maxHidden = 12 * time.Hour

// receipt names a message as it was handed out the last time.
func (q *Queue) receipt(e *entry) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %s %d", q.settings.ARN, e.ID, e.receives))
}

// find returns the message of a receipt, nil when it is gone, and whether the
// receipt is the newest one.
func (q *Queue) find(receipt string) (e *entry, newest bool, err error) {
	text, err := base64.RawURLEncoding.DecodeString(receipt)
	parts := strings.Split(string(text), " ")
	if err != nil || len(parts) != 3 || parts[0] != q.settings.ARN {
		return nil, false, Refuse(CodeInvalidReceipt, "The input receipt handle %q is not a valid receipt handle.", receipt)
	}
	for _, e := range q.messages {
		if e.ID == parts[1] {
			return e, q.receipt(e) == receipt, nil
		}
	}
	return nil, false, nil
}

// Delete ends a message. One that is gone already is none the less; an older
// receipt deletes nothing, which only a FIFO queue says. The error is an Error.
func (q *Queue) Delete(receipt string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, newest, err := q.find(receipt)
	switch {
	case err != nil || e == nil:
		return err
	case q.settings.FIFO && (!newest || !e.inFlight(time.Now())):
		return Refuse(CodeInvalidValue, "Value %s for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.", receipt)
	case newest:
		q.remove(e)
		q.notify() // its group goes on
	}
	return nil
}

// Hide lets a message be seen again only after that time, from now; zero means at
// once. The error is an Error.
func (q *Queue) Hide(receipt string, hide time.Duration) error {
	if hide < 0 || hide > maxHidden {
		return Refuse(CodeInvalidValue, "Value %d for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an integer between 0 and 43200.",
			int(hide.Seconds()))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	e, newest, err := q.find(receipt)
	now := time.Now()
	switch {
	case err != nil:
		return err
	case e == nil:
		return Refuse(CodeInvalidValue, "Value %s for parameter ReceiptHandle is invalid. "+
			"Reason: Message does not exist or is not available for visibility timeout change.", receipt)
	case !newest || !e.inFlight(now):
		return Refuse(CodeNotInFlight, "The message referred to isn't in flight.")
	case now.Sub(e.last).Truncate(time.Second)+hide > maxHidden:
		return Refuse(CodeInvalidValue, "Value %d for parameter VisibilityTimeout is invalid. "+
			"Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].", int(hide.Seconds()))
	}
	e.hidden = now.Add(hide)
	q.notify()
	return nil
}

// Return undoes a Take: the messages can be seen at once, as if they had not been
// received. It is for a receiver who took more than it can carry.
func (q *Queue) Return(messages ...Received) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range messages {
		if e, newest, err := q.find(m.Receipt); err == nil && newest {
			e.receives--
			e.hidden = time.Time{}
		}
	}
	q.notify()
}
