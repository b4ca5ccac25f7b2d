package main_test

import (
	"bufio"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/localtest"
)

func TestSockets(t *testing.T) {
	t.Setenv("DYNAMODB_ENDPOINT", "") // the program starts an engine of its own
	dir := t.TempDir()
	bin := filepath.Join(dir, "functions")
	program := localtest.Build(t, ".", filepath.Join(dir, "local"))
	localtest.Build(t, "./testdata/watcher", filepath.Join(bin, "watcher", "bootstrap"))
	arguments := []string{
		"-http", "127.0.0.1:0", "-ws", "127.0.0.1:0", "-template", mustAbs(t, "testdata/sockets.yaml"), "-bin", bin, "-data", "",
	}
	system := mustStart(t, program, arguments...)

	t.Run("passes a message through gateway and function, and the answer through @connections", func(t *testing.T) {
		conn := mustDial(t, system.websocket+"?token=alice")
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"action":"echo"}`)); err != nil {
			t.Fatal(err)
		}
		if _, data, err := conn.Read(t.Context()); string(data) != `alice: {"action":"echo"}` {
			t.Errorf("got %q, %v", data, err)
		}
	})
	t.Run("refuses a connection without a token", func(t *testing.T) {
		conn, resp, err := websocket.Dial(t.Context(), system.websocket+"/live", nil)
		if err == nil {
			_ = conn.CloseNow()
			t.Fatal("connected")
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
	t.Run("functions get local addresses in place of the cloud's", func(t *testing.T) {
		post := "http" + strings.TrimPrefix(system.websocket, "ws")
		wantAnswer(t, system, "GET", "/addresses", "", "", 200,
			strings.Join([]string{post, system.websocket, system.url, "https://elsewhere.example/live", ""}, "\n"))
	})
	t.Run("streams REST routes at the HTTP API's address", func(t *testing.T) {
		wantAnswer(t, system, "GET", "/watch/1", "", "", 401, `{"message":"Unauthorized"}`)
		resp, err := http.DefaultClient.Do(mustRequest(t, system, "GET", "/watch/1?token=alice", "", ""))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); line != "data: hello alice\n" {
			t.Errorf("got %q, %v", line, err)
		}
	})
	t.Run("refuses a port in use", func(t *testing.T) {
		taken := append([]string{}, arguments...)
		taken[3] = strings.TrimPrefix(system.websocket, "ws://")
		wantFailure(t, program, taken, "choose another address with -ws or RETHREAD_WS_ADDR")
	})
	t.Run("Ctrl-C disconnects open connections at once and calls $disconnect", func(t *testing.T) {
		conn := mustDial(t, system.websocket+"/live?token=alice")
		closed := make(chan error, 1)
		go func() {
			_, _, err := conn.Read(t.Context())
			closed <- err
		}()
		resp, err := http.DefaultClient.Do(mustRequest(t, system, "GET", "/watch/2?token=alice", "", ""))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		system.mustStop(t)
		if code := websocket.CloseStatus(<-closed); code != websocket.StatusGoingAway {
			t.Errorf("code %d", code)
		}
		if !regexp.MustCompile(`WS \$disconnect 200 WatcherFunction`).MatchString(system.output.String()) {
			t.Errorf("no $disconnect in\n%s", system.output)
		}
	})
}

func mustDial(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	conn, resp, err := websocket.Dial(t.Context(), url, nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}
