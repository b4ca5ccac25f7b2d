package proxy

import (
	"encoding/json"
	"net/http"
	"sync"
)

// maxIterators is the number of iterators whose preceding records are kept.
const maxIterators = 256

// stream remembers the records that led to an iterator, to send them again.
type stream struct {
	mu     sync.Mutex
	before map[string][]json.RawMessage // by iterator
}

func iterator(body []byte) string {
	var in struct{ ShardIterator string }
	_ = json.Unmarshal(body, &in) // an invalid request has no iterator
	return in.ShardIterator
}

// knows reports whether there are records to repeat at a request's iterator.
func (s *stream) knows(body []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.before[iterator(body)]) > 0
}

// pass remembers the records of an answer and, with again, inserts the preceding
// records before them.
func (s *stream) pass(body []byte, got answer, again bool) answer {
	var out struct {
		Records           []json.RawMessage
		NextShardIterator string
	}
	if got.status != http.StatusOK || json.Unmarshal(got.body, &out) != nil {
		return got
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := iterator(body)
	earlier := s.before[at]
	if s.before == nil || len(s.before) > maxIterators {
		s.before = map[string][]json.RawMessage{}
	}
	kept := out.Records
	if len(kept) == 0 {
		kept = earlier // there were no records in between
	}
	delete(s.before, at)
	if out.NextShardIterator != "" && len(kept) > 0 {
		s.before[out.NextShardIterator] = kept
	}
	if !again || len(earlier) == 0 {
		return got
	}
	repeated, err := got.with("Records", append(append([]json.RawMessage{}, earlier...), out.Records...))
	if err != nil {
		return got
	}
	return repeated
}
