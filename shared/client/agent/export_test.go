package agent

// NewIdleReader lets the tests of idle readers run on a clock of their own.
var NewIdleReader = newIdleReader //nolint:gochecknoglobals // for tests
