package a2a

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/jsonx"
)

type sentMessageKey struct{}

// withSentMessage keeps the JSON of a request's message: the library decodes its
// numbers as float64, which rounds integers beyond 2^53.
func withSentMessage(r *http.Request, message json.RawMessage) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), sentMessageKey{}, message))
}

// restoreSent restores the numbers of a request's message.
func restoreSent(ctx context.Context, m *lib.Message) {
	raw, _ := ctx.Value(sentMessageKey{}).(json.RawMessage)
	m.Metadata, _ = exact(restore(m.Parts, raw), m.Metadata).(map[string]any)
}

// restore restores the numbers in parts that were decoded from the JSON of a message or
// an artifact, and returns its metadata. Parts are content in the proto file of version
// 0.3, where data is an object with data.
func restore(parts lib.ContentParts, raw json.RawMessage) (metadata json.RawMessage) {
	var of struct {
		Parts, Content []struct{ Data, Metadata json.RawMessage }
		Metadata       json.RawMessage
	}
	if json.Unmarshal(raw, &of) != nil {
		return nil
	}
	sent := of.Parts
	if sent == nil {
		sent = of.Content
	}
	for i, p := range parts {
		if i >= len(sent) || p == nil {
			break
		}
		p.Metadata, _ = exact(sent[i].Metadata, p.Metadata).(map[string]any)
		data, ok := p.Content.(lib.Data)
		if !ok {
			continue
		}
		var wrapped struct{ Data json.RawMessage }
		if of.Parts == nil && json.Unmarshal(sent[i].Data, &wrapped) == nil {
			sent[i].Data = wrapped.Data
		}
		p.Content = lib.Data{Value: exact(sent[i].Data, data.Value)}
	}
	return of.Metadata
}

// exact returns a value with its numbers as they are in the JSON from which it was
// decoded; the value itself if that is other JSON.
func exact(raw json.RawMessage, value any) any {
	var same any
	if value == nil || json.Unmarshal(raw, &same) != nil || !reflect.DeepEqual(same, value) {
		return value
	}
	return jsonx.Canonical(raw)
}
