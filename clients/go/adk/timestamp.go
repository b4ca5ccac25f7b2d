package adk

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// nanoDigits is the maximum number of digits in the fraction of a second.
const nanoDigits = 9

// epochSeconds formats a time as a number of seconds since the epoch, as ADK for
// Python does, but with nanoseconds.
func epochSeconds(t time.Time) json.Number {
	sec, nano, sign := t.Unix(), int64(t.Nanosecond()), ""
	if sec < 0 {
		sign, sec = "-", -sec
		if nano > 0 {
			sec, nano = sec-1, int64(time.Second)-nano
		}
	}
	text := sign + strconv.FormatInt(sec, 10)
	if nano > 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%0*d", nanoDigits, nano), "0")
	}
	return json.Number(text)
}

// parseSeconds parses the output of epochSeconds. ok is false for other notations
// (an exponent, more digits), which are left to ADK's own decoding, and for years
// outside 1 to 9999.
func parseSeconds(number json.Number) (t time.Time, ok bool) {
	digits, negative := strings.CutPrefix(number.String(), "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(fraction) > nanoDigits {
		return t, false
	}
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return t, false
	}
	nano, err := strconv.ParseInt(fraction+strings.Repeat("0", nanoDigits-len(fraction)), 10, 64)
	if err != nil {
		return t, false
	}
	if negative {
		sec, nano = -sec, -nano
	}
	t = time.Unix(sec, nano).UTC()
	return t, t.Year() >= 1 && t.Year() <= 9999
}
