package pattern

// all matches if all of its parts match: the fields of an object.
type all []node

func (a all) matches(value *any) bool {
	for _, part := range a {
		if !part.matches(value) {
			return false
		}
	}
	return true
}

// field matches a field of an object. A value that is not an object has no fields.
type field struct {
	name  string
	inner node
}

func (f field) matches(value *any) bool {
	if value == nil {
		return f.inner.matches(nil)
	}
	object, ok := (*value).(map[string]any)
	if !ok {
		return f.inner.matches(nil)
	}
	inner, ok := object[f.name]
	if !ok {
		return f.inner.matches(nil)
	}
	list, isList := inner.([]any)
	if _, isLeaf := f.inner.(leaf); isLeaf || !isList {
		return f.inner.matches(&inner)
	}
	return matchesAny(f.inner, list)
}

// matchesAny reports whether a single element of the list matches.
func matchesAny(inner node, list []any) bool {
	for i := range list {
		if inner.matches(&list[i]) {
			return true
		}
	}
	return len(list) == 0 && inner.matches(nil)
}

// leaf matches a value, or one element of a list, by any of its tests. Objects do
// not count as existing, as Lambda documents for exists.
type leaf struct {
	tests           []test
	present, absent bool
}

func (l leaf) matches(value *any) bool {
	var leaves []any
	if value != nil {
		leaves = collect(nil, *value)
	}
	if len(leaves) == 0 {
		return l.absent
	}
	if l.present {
		return true
	}
	for _, value := range leaves {
		for _, test := range l.tests {
			if test(value) {
				return true
			}
		}
	}
	return false
}

// collect appends value, or the elements of a list, to leaves.
func collect(leaves []any, value any) []any {
	switch value := value.(type) {
	case map[string]any:
		return leaves
	case []any:
		for _, item := range value {
			leaves = collect(leaves, item)
		}
		return leaves
	default:
		return append(leaves, value)
	}
}
