// Package sqsapi implements SQS's protocol (AWS JSON 1.0) for the local queues, so
// that the SDK's client can use them. It supports the operations that programs
// need. Other operations are refused, including those that manage queues: the
// template defines them.
package sqsapi

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/queue"
)

const (
	contentType  = "application/x-amz-json-1.0"
	targetPrefix = "AmazonSQS."
	// maxRequestBytes leaves room for a batch with every byte escaped.
	maxRequestBytes = 8 << 20
)

// Error codes of the protocol itself.
const (
	codeInvalidAddress = "InvalidAddress"
	codeNoQueue        = "QueueDoesNotExist"
	codeUnsupported    = "UnsupportedOperation"
	codeUnknown        = "UnknownOperationException"
	codeMalformed      = "SerializationException"
)

// Queues are the queues to serve.
type Queues interface {
	Queues() []*queue.Queue
}

// API is an http.Handler.
type API struct {
	queues Queues
	log    *slog.Logger
}

// New returns the handler.
func New(queues Queues, log *slog.Logger) *API { return &API{queues: queues, log: log} }

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", contentType)
	rw.Header().Set("X-Amzn-Requestid", uuid.NewString())
	answer, err := a.serve(rw, r)
	if r.Context().Err() != nil {
		return // the caller disconnected
	}
	if err != nil {
		a.refuse(rw, r, err)
		return
	}
	a.write(rw, r, answer)
}

func (a *API) serve(rw http.ResponseWriter, r *http.Request) (any, error) {
	operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)
	if !ok || r.Method != http.MethodPost {
		return nil, queue.Refuse(codeUnknown, "The operation is not an operation of SQS.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxRequestBytes))
	if err != nil {
		return nil, queue.Refuse(codeMalformed, "Cannot read the request: %v", err)
	}
	switch operation {
	case "GetQueueUrl":
		return call(body, a.getQueueURL)
	case "GetQueueAttributes":
		return call(body, a.getQueueAttributes)
	case "SendMessage":
		return call(body, a.sendMessage)
	case "SendMessageBatch":
		return call(body, a.sendMessageBatch)
	case "ReceiveMessage":
		in, err := decode[receiveRequest](body)
		if err != nil {
			return nil, err
		}
		return a.receiveMessage(r.Context(), in)
	case "DeleteMessage":
		return call(body, a.deleteMessage)
	case "DeleteMessageBatch":
		return call(body, a.deleteMessageBatch)
	case "ChangeMessageVisibility":
		return call(body, a.changeVisibility)
	case "ChangeMessageVisibilityBatch":
		return call(body, a.changeVisibilityBatch)
	default:
		return nil, queue.Refuse(codeUnsupported, "%s is not supported by the local host.", operation)
	}
}

// call runs an operation that needs only its request.
func call[In any](body []byte, operation func(In) (any, error)) (any, error) {
	in, err := decode[In](body)
	if err != nil {
		return nil, err
	}
	return operation(in)
}

// decode ignores unknown members, like SQS.
func decode[In any](body []byte) (in In, err error) {
	if err := json.Unmarshal(body, &in); err != nil {
		return in, queue.Refuse(codeMalformed, "The request is not valid: %v", err)
	}
	return in, nil
}

// find returns a queue by its URL.
func (a *API) find(url string) (*queue.Queue, error) {
	switch {
	case url == "":
		return nil, queue.Refuse(queue.CodeMissingParameter, "The request must contain the parameter QueueUrl.")
	case !strings.Contains(url, "/"):
		return nil, queue.Refuse(codeInvalidAddress, "The address %s is not valid for this endpoint.", url)
	}
	for _, q := range a.queues.Queues() {
		if q.Settings().URL == url {
			return q, nil
		}
	}
	return nil, queue.Refuse(codeNoQueue, "The specified queue does not exist.")
}

type queueURLRequest struct {
	Name string `json:"QueueName"`
}

type queueURLAnswer struct {
	URL string `json:"QueueUrl"`
}

func (a *API) getQueueURL(in queueURLRequest) (any, error) {
	for _, q := range a.queues.Queues() {
		if q.Settings().Name == in.Name {
			return queueURLAnswer{q.Settings().URL}, nil
		}
	}
	return nil, queue.Refuse(codeNoQueue, "The specified queue does not exist.")
}

// legacyCode is the code's name in SQS's former protocol, if it differed: clients
// still report it.
func legacyCode(code string) string {
	switch code {
	case codeNoQueue:
		return "AWS.SimpleQueueService.NonExistentQueue"
	case codeUnsupported, codeTooMany, codeEmpty, codeNotDistinct, codeInvalidID, codeTooLong, queue.CodeNotInFlight:
		return "AWS.SimpleQueueService." + code
	default:
		return code
	}
}

func (a *API) refuse(rw http.ResponseWriter, r *http.Request, err error) {
	var refusal *queue.Error
	if !errors.As(err, &refusal) {
		a.log.ErrorContext(r.Context(), "request to the local SQS failed", "error", err)
		rw.WriteHeader(http.StatusInternalServerError)
		return
	}
	rw.Header().Set("X-Amzn-Query-Error", legacyCode(refusal.Code)+";Sender")
	rw.WriteHeader(http.StatusBadRequest)
	a.write(rw, r, map[string]string{"__type": "com.amazonaws.sqs#" + refusal.Code, "message": refusal.Message})
}

func (a *API) write(rw http.ResponseWriter, r *http.Request, answer any) {
	if err := json.NewEncoder(rw).Encode(answer); err != nil {
		a.log.WarnContext(r.Context(), "failed to send a response of the local SQS; its caller may retry", "error", err)
	}
}
