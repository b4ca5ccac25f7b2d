package pattern

// all matches when every part does: the fields of an object.
type all []node

func (a all) matches(value *any) bool {
	for _, part := range a {
		if !part.matches(value) {
			return false
		}
	}
	return true
}

// field hands an object's field on. A value that is no object has no fields.
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

// matchesAny looks for the one element that has everything that is asked for.
func matchesAny(inner node, list []any) bool {
	for i := range list {
		if inner.matches(&list[i]) {
			return true
		}
	}
	return len(list) == 0 && inner.matches(nil)
}

// leaf matches a value, or one element of a list, by any of its tests. Only
// values that are no objects count as being there, as Lambda documents exists.
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

// collect adds value, or what it lists, to leaves.
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
