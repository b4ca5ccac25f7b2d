package lambda

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

const (
	unhandled    = "Unhandled"
	lambdaMillis = "2006-01-02T15:04:05.000Z"
)

// failure is Lambda's description of a function's error.
type failure struct {
	Type    string `json:"errorType,omitempty"`
	Message string `json:"errorMessage"`
}

func (f failure) result() *Result {
	payload, _ := json.Marshal(f) // two strings always marshal
	return &Result{Payload: payload, FunctionError: unhandled}
}

func timedOut(now time.Time, id string, timeout time.Duration) failure {
	return failure{Message: fmt.Sprintf("%s %s Task timed out after %.2f seconds",
		now.UTC().Format(lambdaMillis), id, timeout.Seconds())}
}

func initTimedOut(id string) failure {
	return failure{
		Type:    "Sandbox.Timedout",
		Message: fmt.Sprintf("RequestId: %s Error: Init timed out after %.2f seconds", id, initTimeout.Seconds()),
	}
}

func exited(id string, state *os.ProcessState) failure {
	reason := "Runtime exited without providing a reason"
	if state != nil && !state.Success() {
		reason = "Runtime exited with error: " + state.String()
	}
	return failure{Type: "Runtime.ExitError", Message: fmt.Sprintf("RequestId: %s Error: %s", id, reason)}
}

func notStarted(id string, err error) failure {
	return failure{Type: "Runtime.InvalidEntrypoint", Message: fmt.Sprintf("RequestId: %s Error: %v", id, err)}
}

func responseTooLarge(limit int) failure {
	return failure{
		Type:    "Function.ResponseSizeTooLarge",
		Message: fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", limit),
	}
}
