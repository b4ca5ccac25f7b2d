package proxy

import (
	"encoding/json"
	"net/http"
	"sync"
)

// mostPlaces bounds of how many places in the stream the records before are kept.
const mostPlaces = 256

// stream remembers the records that led to a place, to send them once more.
type stream struct {
	mu     sync.Mutex
	before map[string][]json.RawMessage // by iterator
}

func iterator(body []byte) string {
	var in struct{ ShardIterator string }
	_ = json.Unmarshal(body, &in) // what is none is unknown
	return in.ShardIterator
}

// knows reports whether there are records to repeat at a request's place.
func (s *stream) knows(body []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.before[iterator(body)]) > 0
}

// pass remembers what an answer holds, and with again puts before it what came
// before it.
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
	if s.before == nil || len(s.before) > mostPlaces {
		s.before = map[string][]json.RawMessage{}
	}
	kept := out.Records
	if len(kept) == 0 {
		kept = earlier // nothing happened since
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
