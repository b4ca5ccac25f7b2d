package rethread

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// maxLine is the limit of a line of a stream in bytes. An item has at most some MB.
const maxLine = 64 << 20

// events handles what a stream of server-sent events contains.
type events struct {
	alive func()                  // called for each line, comments included
	retry func(time.Duration)     // the delay that the server wants before another stream
	event func(data []byte) error // an error ends the stream
}

// readEvents passes the events of a stream to handle until the stream ends or
// handle.event fails. The end of the stream is an *Error of the status 0, like a lost
// connection.
func readEvents(stream io.Reader, handle events) error {
	lines := bufio.NewReaderSize(stream, 64<<10)
	var data [][]byte
	for {
		line, err := readLine(lines)
		if err != nil {
			return noAnswer(err)
		}
		handle.alive()
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(field) == "data":
			data = append(data, value)
		case string(field) == "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				handle.retry(time.Duration(ms) * time.Millisecond)
			}
		case len(line) == 0 && len(data) > 0:
			whole := bytes.Join(data, []byte("\n"))
			data = nil
			if err := handle.event(whole); err != nil {
				return err
			}
		}
	}
}

// readLine returns a copy of the next line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("a line of the stream has more than %d bytes", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err // an event that is cut off is not complete
		default:
			return bytes.TrimRight(line, "\r\n"), nil
		}
	}
}
