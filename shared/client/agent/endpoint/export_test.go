package endpoint

// NewIdleReader lets tests of idle readers use their own clock.
var NewIdleReader = newIdleReader //nolint:gochecknoglobals // for tests
