package queue

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// maxHidden limits the total visibility timeout of a received message.
const maxHidden = 12 * time.Hour

// receipt identifies a message and the latest time it was handed out.
func (q *Queue) receipt(e *entry) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %s %d", q.settings.ARN, e.ID, e.receives))
}

// find returns the message of a receipt, nil if it was deleted, and whether the
// receipt is the latest one.
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

// Delete deletes a message. Deleting a deleted message succeeds. An outdated
// receipt deletes nothing; only a FIFO queue returns an error for it. The error is
// an Error.
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
		q.notify() // its group can be received again
	}
	return nil
}

// Hide makes a message visible again after that time from now; 0 means at once.
// The error is an Error.
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

// Return undoes a Take: the messages become visible at once, as if they had not
// been received. It is for a receiver that took more than fits into an event.
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
