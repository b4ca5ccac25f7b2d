package boot

import (
	"runtime/debug"
	"strconv"
)

// memoryShare is the part of a function's memory, in percent, that Go's heap and stacks
// may take; the rest is for the program itself and Lambda's own processes.
const memoryShare = 75

// MemoryLimit returns how much memory Go may use, in bytes, so that it collects garbage
// instead of growing beyond the function's memory, where Lambda would end the process;
// 0 outside Lambda and where the variable GOMEMLIMIT sets it.
func MemoryLimit(getenv func(string) string) int64 {
	if getenv("GOMEMLIMIT") != "" {
		return 0
	}
	megabytes, err := strconv.ParseInt(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 64)
	if err != nil || megabytes <= 0 {
		return 0
	}
	return megabytes << 20 * memoryShare / 100
}

// limitMemory applies MemoryLimit to this process.
func limitMemory(getenv func(string) string) {
	if limit := MemoryLimit(getenv); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}
