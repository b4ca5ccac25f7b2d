package queue

import "fmt"

// Error codes of SQS's API reference.
const (
	CodeInvalidContents  = "InvalidMessageContents"
	CodeInvalidReceipt   = "ReceiptHandleIsInvalid"
	CodeInvalidValue     = "InvalidParameterValue"
	CodeMissingParameter = "MissingParameter"
	CodeNotInFlight      = "MessageNotInflight"
	CodeOverLimit        = "OverLimit"
)

// Error is an error of the caller, in SQS's words.
type Error struct{ Code, Message string }

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Refuse returns an Error.
func Refuse(code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
