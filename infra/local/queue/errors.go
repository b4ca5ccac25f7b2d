package queue

import "fmt"

// Codes of refusals, as SQS's API reference has them.
const (
	CodeInvalidContents  = "InvalidMessageContents"
	CodeInvalidReceipt   = "ReceiptHandleIsInvalid"
	CodeInvalidValue     = "InvalidParameterValue"
	CodeMissingParameter = "MissingParameter"
	CodeNotInFlight      = "MessageNotInflight"
	CodeOverLimit        = "OverLimit"
)

// Error is a refusal: the caller's mistake, in SQS's words.
type Error struct{ Code, Message string }

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Refuse makes an Error.
func Refuse(code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
