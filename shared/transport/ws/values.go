package ws

// AllValues returns every value of the parameters or headers of an event: from
// the field with all values, or if it is empty, from the one with the last
// value per name.
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
