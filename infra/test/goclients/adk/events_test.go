package adk_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"
	adksession "google.golang.org/adk/v2/session"
	"google.golang.org/genai"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/session"
)

// fill sets every field that JSON encodes, up to a depth.
func fill(v reflect.Value, depth int) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)))
		return
	case reflect.TypeFor[time.Duration]():
		v.Set(reflect.ValueOf(3 * time.Second))
		return
	case reflect.TypeFor[jsonschema.Schema]():
		v.Set(reflect.ValueOf(jsonschema.Schema{Type: "object", MinProperties: jsonschema.Ptr(1), Title: "aB"}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth-1)
		}
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(v.Type()) {
			if field.IsExported() && len(field.Index) == 1 && field.Tag.Get("json") != "-" {
				fill(v.FieldByIndex(field.Index), depth)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, depth)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("aKey_of-Mine").Convert(v.Type().Key()), value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"mimeType": "kept", "state_delta": []any{1.5, nil, "<&>"}}))
	case reflect.String:
		v.SetString("text <é>")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint8:
		v.SetUint(0xfb) // "-" and "_" in URL-safe base64
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	default: // JSON has no other kinds
	}
}

// full returns an event with every possible member.
func full() *adksession.Event {
	e := &adksession.Event{}
	fill(reflect.ValueOf(e).Elem(), 7)
	e.Partial = false
	e.ID, e.InvocationID, e.Author = "e-1", "i-1", "agent"
	e.Timestamp = time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	return e
}

func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	t.Run("every member survives a round trip", func(t *testing.T) {
		to := s.mustCreate(t, alice, "every", nil)
		want := full()
		s.mustAppend(t, to, full())
		got := s.mustGet(t, "every").Events()
		if got.Len() != 1 {
			t.Fatalf("%d events", got.Len())
		}
		if diff := cmp.Diff(want, got.At(0), cmpopts.IgnoreUnexported(jsonschema.Schema{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("distinguishes nil and empty maps", func(t *testing.T) {
		to := s.mustCreate(t, alice, "maps", nil)
		empty := adksession.NewEvent(t.Context(), "i")
		empty.Author = "agent"
		none := changing("i", nil)
		s.mustAppend(t, to, empty, none)
		got := s.mustGet(t, "maps").Events()
		if got.At(0).Actions.StateDelta == nil || got.At(0).Actions.ArtifactDelta == nil {
			t.Error("empty maps became nil")
		}
		if got.At(1).Actions.StateDelta != nil || got.At(1).Actions.ArtifactDelta != nil {
			t.Error("nil maps became empty")
		}
		if !got.At(0).Timestamp.Equal(empty.Timestamp) {
			t.Errorf("timestamp %s, want %s", got.At(0).Timestamp, empty.Timestamp)
		}
	})
	t.Run("appending an event again changes nothing", func(t *testing.T) {
		to := s.mustCreate(t, alice, "again", nil)
		e := changing("i", map[string]any{"k": "v"})
		s.mustAppend(t, to, e)
		s.mustAppend(t, s.mustGet(t, "again"), e)
		if got := s.mustGet(t, "again").Events().Len(); got != 1 {
			t.Errorf("%d events", got)
		}
	})
	t.Run("an event without an id gets one", func(t *testing.T) {
		to := s.mustCreate(t, alice, "no id", nil)
		e := changing("i", nil)
		e.ID = ""
		s.mustAppend(t, to, e)
		if got := s.mustGet(t, "no id").Events().At(0).ID; got == "" || got != e.ID {
			t.Errorf("stored as %q, returned as %q", got, e.ID)
		}
	})
}

func TestStoredForm(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	to := s.mustCreate(t, alice, "s", nil)
	e := changing("i-1", map[string]any{"aKey": 1, "temp:x": 2})
	e.ID = "e-1"
	e.Actions.ArtifactDelta = map[string]int64{"plan.txt": 1}
	e.Actions.TransferToAgent = "other"
	e.LongRunningToolIDs = []string{"t"}
	e.Content = genai.NewContentFromFunctionCall("find", map[string]any{"maxPrice": 5}, genai.RoleModel)
	e.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 7}
	s.mustAppend(t, to, e)
	page, err := s.store.Sessions.Events(t.Context(), alice, "s", session.EventQuery{View: session.All, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"e-1","invocation_id":"i-1","author":"agent",` +
		`"actions":{"artifact_delta":{"plan.txt":0},"state_delta":{"aKey":1},"transfer_to_agent":"other"},` +
		`"content":{"parts":[{"function_call":{"args":{"maxPrice":5},"name":"find"}}],"role":"model"},` +
		`"long_running_tool_ids":["t"],"timestamp":1767323045.678901234,"usage_metadata":{"prompt_token_count":7}}`
	if diff := cmp.Diff(want, string(page.Events[0].Own())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEventsOfOtherClients(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.mustCreate(t, alice, "s", nil)
	for _, raw := range []string{
		`{"invocation_id":"i","author":"user","content":{"role":"user","parts":[{"text":"hi"}]},"mine":{"someThing":1}}`,
		// An event as ADK for Python encodes it.
		`{"invocation_id":"i","author":"agent","timestamp":1733040000.25,"custom_metadata":{"a_b":1},"node_info":{"path":""},` +
			`"actions":{"state_delta":{},"artifact_delta":{"f":0},"requested_auth_configs":{},"end_of_agent":true},` +
			`"content":{"role":"model","parts":[{"inline_data":{"mime_type":"image/png","data":"-_8="}}]}}`,
	} {
		e, err := session.ParseEvent(json.RawMessage(raw), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.store.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{e}}); err != nil {
			t.Fatal(err)
		}
	}
	got := s.mustGet(t, "s").Events()
	if text := got.At(0).Content.Parts[0].Text; text != "hi" {
		t.Errorf("text %q", text)
	}
	if age := time.Since(got.At(0).Timestamp); age < 0 || age > time.Minute {
		t.Errorf("the event without a timestamp has %s, not the time of its append", got.At(0).Timestamp)
	}
	python := got.At(1)
	if !python.Timestamp.Equal(time.UnixMilli(1733040000250)) {
		t.Errorf("timestamp %s", python.Timestamp)
	}
	if diff := cmp.Diff(map[string]any{"a_b": 1.0}, python.CustomMetadata); diff != "" {
		t.Errorf("custom metadata (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"f": 1}, python.Actions.ArtifactDelta); diff != "" {
		t.Errorf("artifact delta (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]byte{0xfb, 0xff}, python.Content.Parts[0].InlineData.Data); diff != "" {
		t.Errorf("bytes (-want +got):\n%s", diff)
	}
}

func TestTimestampsAreExact(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	property.Check(t, func(t *rapid.T) {
		want := time.Unix(
			rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"),
		).UTC()
		id := uuid.NewString()
		made, err := s.Sessions.Create(t.Context(), &adksession.CreateRequest{AppName: app, UserID: alice, SessionID: id})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Sessions.AppendEvent(t.Context(), made.Session, &adksession.Event{InvocationID: "i", Author: "a", Timestamp: want}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Sessions.Get(t.Context(), get(id))
		if err != nil || !got.Session.Events().At(0).Timestamp.Equal(want) {
			t.Fatalf("%s came back as %v, %v", want, got, err)
		}
	})
}
