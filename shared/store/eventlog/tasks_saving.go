package eventlog

import (
	"time"
)

// SavingTime is longer than a request takes: saves announced earlier have
// ended.
const SavingTime = time.Minute
