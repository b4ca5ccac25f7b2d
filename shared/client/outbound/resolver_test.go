package outbound_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"

	"golang.org/x/net/dns/dnsmessage"
)

// resolver resolves every name to one address, like an attacker's name server. An
// empty address has no answer.
func resolver(address string) *net.Resolver {
	return &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe() // no packets, so each message is preceded by its length
			go func() {
				defer func() { _ = server.Close() }()
				for answer(server, address) == nil {
				}
			}()
			return client, nil
		},
	}
}

func answer(conn net.Conn, address string) error {
	var length uint16
	if err := binary.Read(conn, binary.BigEndian, &length); err != nil {
		return err
	}
	query := make([]byte, length)
	if _, err := io.ReadFull(conn, query); err != nil {
		return err
	}
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		return err
	}
	question, err := parser.Question()
	if err != nil {
		return err
	}
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true},
		Questions: []dnsmessage.Question{question}, Answers: records(question, address),
	}
	packed, err := message.Pack()
	if err != nil {
		return err
	}
	_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...)) //nolint:gosec // a few dozen bytes
	return err
}

func records(question dnsmessage.Question, address string) []dnsmessage.Resource {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return nil
	}
	header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class}
	switch {
	case question.Type == dnsmessage.TypeA && parsed.Is4():
		return []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: parsed.As4()}}}
	case question.Type == dnsmessage.TypeAAAA && parsed.Is6():
		return []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: parsed.As16()}}}
	default:
		return nil
	}
}
