// Package otlp reads what functions export of their traces, by OpenTelemetry's own schema:
// an unknown member or a value of another type is an error.
package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// Parse reads a request to export spans in OTLP's JSON form. It differs from that of
// protocol buffers in ids, which are hexadecimal.
func Parse(body []byte) (*collector.ExportTraceServiceRequest, error) {
	var all any
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("parse spans: %w", err)
	}
	if err := convertIDs(all); err != nil {
		return nil, err
	}
	converted, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("convert spans: %w", err)
	}
	out := &collector.ExportTraceServiceRequest{}
	if err := protojson.Unmarshal(converted, out); err != nil {
		return nil, fmt.Errorf("parse spans: %w", err)
	}
	return out, nil
}

func convertIDs(v any) error {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if err := convertIDs(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range []string{"traceId", "spanId", "parentSpanId"} {
			id, ok := v[name].(string)
			if !ok {
				continue
			}
			raw, err := hex.DecodeString(id)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			v[name] = base64.StdEncoding.EncodeToString(raw)
		}
		for _, one := range v {
			if err := convertIDs(one); err != nil {
				return err
			}
		}
	}
	return nil
}
