package session

import (
	"encoding/json"
	"math"
	"strconv"
)

// MaxInteger is the largest integer that every JSON reader keeps exactly.
const MaxInteger = 1<<53 - 1

// Integer reads a JSON number without a fraction, however it is written: 3,
// 3.0 and 3e0 are the same integer. It refuses what is beyond MaxInteger.
func Integer(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > MaxInteger {
			return 0, false
		}
		n = int64(f)
	}
	return n, n <= MaxInteger && n >= -MaxInteger
}
