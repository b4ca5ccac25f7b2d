package ws

// AllValues prefers the fields of an event that hold every value to those with the
// last one of each name.
func AllValues(every map[string][]string, last map[string]string) map[string][]string {
	if len(every) > 0 {
		return every
	}
	out := make(map[string][]string, len(last))
	for name, value := range last {
		out[name] = []string{value}
	}
	return out
}
