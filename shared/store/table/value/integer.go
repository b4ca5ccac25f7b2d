package value

import (
	"strconv"
	"strings"
)

// maxIntegerDigits is below the digits of the largest int64.
const maxIntegerDigits = 18

// isInteger reports whether a string is an integer of at most maxIntegerDigits digits
// in its normal form. Nearly all numbers of a table are: positions, times and counts.
// They need no arithmetic with big numbers.
func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "0" {
		return s == "0"
	}
	if digits == "" || len(digits) > maxIntegerDigits || digits[0] == '0' {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// integerSize is Number.Size for a string that isInteger.
func integerSize(s string) int {
	if s == "0" {
		return 1
	}
	digits := strings.TrimPrefix(s, "-")
	zeros := len(digits) - len(strings.TrimRight(digits, "0"))
	return 2 + half(len(digits)-1) - half(zeros) + len(s) - len(digits)
}

// integers parses two strings; ok is false unless both are isInteger.
func integers(a, b string) (n, m int64, ok bool) {
	if !isInteger(a) || !isInteger(b) {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(a, 10, 64)
	m, also := strconv.ParseInt(b, 10, 64)
	return n, m, err == nil && also == nil
}
