package dynamodblocal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// ErrPortTaken means that another program listens on the requested port.
var ErrPortTaken = errors.New("port is in use")

func checkPort(ctx context.Context, port int) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("%w: %d: stop the program that uses it or choose another: %w", ErrPortTaken, port, err)
	}
	return listener.Close()
}

func freePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port // the address of a TCP listener
	return port, listener.Close()
}
