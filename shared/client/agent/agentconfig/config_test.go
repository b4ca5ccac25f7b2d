package agentconfig_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
)

func environment(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

func mustParse(t *testing.T, config string) agentconfig.Agents {
	t.Helper()
	agents, err := agentconfig.Parse(config, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	return agents
}

func TestAgents(t *testing.T) {
	const one = `{"type":"http","url":"http://localhost"}`
	for name, c := range map[string]struct {
		config string
		found  map[string]bool
	}{
		"no configuration":        {" ", map[string]bool{"": false, "x": false}},
		"one agent":               {`{"x":` + one + `}`, map[string]bool{"": true, "x": true, "y": false, "default": false}},
		"several":                 {`{"x":` + one + `,"y":` + one + `}`, map[string]bool{"": false, "x": true}},
		"agents with namespaces":  {`{"a/x":` + one + `,"b/x":` + one + `}`, map[string]bool{"a/x": true, "b/x": true, "x": false, "a": false}},
		"a default among several": {`{"x":` + one + `,"default":` + one + `}`, map[string]bool{"": true, "default": true}},
	} {
		t.Run(name, func(t *testing.T) {
			agents := mustParse(t, c.config)
			for asked, want := range c.found {
				if got := agents.Has(asked); got != want {
					t.Errorf("agent %q: %v", asked, got)
				}
			}
		})
	}
}

func TestRetention(t *testing.T) {
	agents := mustParse(t, `{"x":{"type":"http","url":"http://h","retention":"30d"},"m":{"type":"chat_completions",`+
		`"url":"http://h","model":"gpt","retention":"2m"},"y":{"type":"http","url":"http://h"}}`)
	for name, want := range map[string]int64{"x": 30 * 24 * 60 * 60, "m": 120, "y": 0, "nobody": 0, "": 0} {
		if got := agents.Retention(name); got != want {
			t.Errorf("sessions of agent %q are kept for %d s", name, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	agentOf := func(members string) string { return `{"a/b/c":1,"x":{"type":"http","url":"http://h"` + members + `}}` }
	only := func(members string) string { return strings.Replace(agentOf(members), `"a/b/c":1,`, "", 1) }
	chat := func(members string) string {
		return `{"x":{"type":"chat_completions","url":"http://h"` + members + `}}`
	}
	adk := func(members string) string { return `{"x":{"type":"adk","url":"http://h"` + members + `}}` }
	agui := func(members string) string { return `{"x":{"type":"ag_ui","url":"http://h"` + members + `}}` }
	for name, c := range map[string]struct{ config, pointer string }{
		"no object":                        {`[]`, ""},
		"null":                             {`null`, ""},
		"malformed JSON":                   {`{`, ""},
		"an invalid agent name":            {agentOf(""), "/a~1b~1c"},
		"two agents with the same address": {`{"a/b":{"type":"http","url":"http://h"},"a~b":{"type":"http","url":"http://h"}}`, "/a~1b"},
		"an agent that is no object":       {`{"x":"http://h"}`, "/x"},
		"no type":                          {`{"x":{"url":"http://h"}}`, "/x/type"},
		"an unknown type":                  {`{"x":{"type":"grpc","url":"http://h"}}`, "/x/type"},
		"an app without a name":            {adk(""), "/x/app"},
		"an app that is a path":            {adk(`,"app":"a/b"`), "/x/app"},
		"an app for another type":          {only(`,"app":"a"`), "/x/app"},
		"no url":                           {`{"x":{"type":"http"}}`, "/x/url"},
		"a url of another scheme":          {`{"x":{"type":"http","url":"file:///etc/passwd"}}`, "/x/url"},
		"a url without a host":             {`{"x":{"type":"http","url":"http:///x"}}`, "/x/url"},
		"a url with a password":            {`{"x":{"type":"http","url":"http://u:top-secret@h"}}`, "/x/url"},
		"a url with a fragment":            {`{"x":{"type":"http","url":"http://h/#a"}}`, "/x/url"},
		"a url of a wrong type":            {`{"x":{"type":"http","url":5}}`, "/x/url"},
		"an unknown member":                {only(`,"modle":"m"`), "/x/modle"},
		"a model for http":                 {only(`,"model":"m"`), "/x/model"},
		"headers of a wrong type":          {only(`,"headers":[]`), "/x/headers"},
		"an invalid header name":           {only(`,"headers":{"a b":"c"}`), "/x/headers/a b"},
		"an invalid header value":          {only(`,"headers":{"a":"b\r\nc: d"}`), "/x/headers/a"},
		"a reserved header":                {only(`,"headers":{"content-type":"text/plain"}`), "/x/headers/content-type"},
		"a header twice":                   {only(`,"headers":{"authorization":"b"},"api_key_env":"KEY"`), "/x/api_key_env"},
		"a secret that is not set":         {only(`,"api_key_env":"NONE"`), "/x/api_key_env"},
		"a secret that is empty":           {only(`,"header_env":{"X-Key":"EMPTY"}`), "/x/header_env/X-Key"},
		"a secret with controls":           {only(`,"api_key_env":"BROKEN"`), "/x/api_key_env"},
		"a timeout without unit":           {only(`,"timeouts":{"idle":"5"}`), "/x/timeouts/idle"},
		"a timeout too long":               {only(`,"timeouts":{"idle":"16m"}`), "/x/timeouts/idle"},
		"a timeout of zero":                {only(`,"timeouts":{"connect":"0s"}`), "/x/timeouts/connect"},
		"an unknown timeout":               {only(`,"timeouts":{"total":"5s"}`), "/x/timeouts/total"},
		"a number for a timeout":           {only(`,"timeouts":{"idle":5}`), "/x/timeouts"},
		"a retention too short":            {only(`,"retention":"5s"`), "/x/retention"},
		"a retention without a unit":       {only(`,"retention":"5"`), "/x/retention"},
		"a number for a retention":         {only(`,"retention":5`), "/x/retention"},
		"a history without bounds":         {only(`,"history":5`), "/x/history"},
		"a history of no turns":            {only(`,"history":{"turns":0}`), "/x/history/turns"},
		"a history of half a byte":         {only(`,"history":{"bytes":0.5}`), "/x/history/bytes"},
		"too many continuations":           {only(`,"max_continuations":11`), "/x/max_continuations"},
		"fewer continuations than none":    {only(`,"max_continuations":-1`), "/x/max_continuations"},
		"an unknown end of failed runs":    {only(`,"on_failed":"retry"`), "/x/on_failed"},
		"continuations in words":           {only(`,"max_continuations":"two"`), "/x/max_continuations"},
		"a history in days":                {only(`,"history":{"days":1}`), "/x/history/days"},
		"an unknown choice of thinking":    {chat(`,"model":"m","reasoning":"sometimes"`), "/x/reasoning"},
		"a stored response":                {`{"x":{"type":"responses","url":"http://h","model":"m","parameters":{"store":true}}}`, "/x/parameters/store"},
		"a choice of thinking elsewhere":   {`{"x":{"type":"responses","url":"http://h","model":"m","reasoning":"always"}}`, "/x/reasoning"},
		"a card at another host":           {`{"x":{"type":"a2a","url":"https://h/a","card":"https://other/card"}}`, "/x/card"},
		"a card without TLS":               {`{"x":{"type":"a2a","url":"https://h/a","card":"http://h/card"}}`, "/x/card"},
		"a card for http":                  {only(`,"card":"http://h/card"`), "/x/card"},
		"a model for a2a":                  {`{"x":{"type":"a2a","url":"https://h/a","model":"m"}}`, "/x/model"},
		"no model":                         {chat(``), "/x/model"},
		"tools that are no array":          {chat(`,"model":"m","tools":{}`), "/x/tools"},
		"tools without a description":      {agui(`,"tools":[{"name":"f"}]`), "/x/tools/0"},
		"tools that are texts":             {agui(`,"tools":["f"]`), "/x/tools/0"},
		"forwarded props of a wrong type":  {agui(`,"forwarded_props":[]`), "/x/forwarded_props"},
		"reserved forwarded props":         {agui(`,"forwarded_props":{"rethread":1}`), "/x/forwarded_props/rethread"},
		"an unknown parameter to read":     {only(`,"reads":["tools","store"]`), "/x/reads/1"},
		"parameters to read as a text":     {only(`,"reads":"tools"`), "/x/reads"},
		"parameters to read for AG-UI":     {agui(`,"reads":["tools"]`), "/x/reads"},
		"a model for AG-UI":                {agui(`,"model":"m"`), "/x/model"},
		"a parameter without its path":     {only(`,"api_key_parameter":"key"`), "/x/api_key_parameter"},
		"a parameter of a wrong type":      {only(`,"api_key_parameter":5`), "/x/api_key_parameter"},
		"a header of a parameter twice":    {only(`,"headers":{"x-key":"a"},"header_parameters":{"X-Key":"/a/b"}`), "/x/header_parameters/X-Key"},
		"two keys":                         {only(`,"api_key_env":"KEY","api_key_parameter":"/a/b"`), "/x/api_key_parameter"},
		"a reserved header of a parameter": {only(`,"header_parameters":{"Host":"/a/b"}`), "/x/header_parameters/Host"},
		"callers of a wrong type":          {only(`,"callers":"all"`), "/x/callers"},
		"callers that are null":            {only(`,"callers":null`), "/x/callers"},
		"no callers":                       {only(`,"callers":{}`), "/x/callers"},
		"callers by an unknown rule":       {only(`,"callers":{"scopes":"a"}`), "/x/callers/scopes"},
		"callers by two scopes":            {only(`,"callers":{"scope":"a b"}`), "/x/callers"},
		"callers by any value of a claim":  {only(`,"callers":{"claim":"groups"}`), "/x/callers"},
		"callers by no value of a claim":   {only(`,"callers":{"claim":"groups","any_of":[]}`), "/x/callers"},
		"callers by values of no claim":    {only(`,"callers":{"scope":"a","any_of":["x"]}`), "/x/callers"},
		"reserved parameters":              {chat(`,"model":"m","parameters":{"stream":false}`), "/x/parameters/stream"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agentconfig.Parse(c.config, environment(map[string]string{"KEY": "top-secret", "EMPTY": " ", "BROKEN": "top-secret\x00x"}))
			var f *fault.Error
			if !errors.As(err, &f) {
				t.Fatalf("got %v", err)
			}
			if c.pointer != "" && f.Violations[0].Pointer != c.pointer {
				t.Errorf("got %v, want %s", err, c.pointer)
			}
			if strings.Contains(err.Error(), "top-secret") {
				t.Errorf("a secret shows: %v", err)
			}
		})
	}
}
