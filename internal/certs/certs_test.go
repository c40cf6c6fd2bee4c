package certs

import (
	"crypto/tls"
	"errors"
	"net"
	"testing"
)

// A client accepts the server with the pinned certificate and its key, at any address, and no other.
func TestPinned(t *testing.T) {
	pair, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	other, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tls.X509KeyPair([]byte(pair.Cert), []byte(other.Key)); err == nil {
		t.Error("a certificate goes with the key of another")
	}
	cert, err := tls.X509KeyPair([]byte(pair.Cert), []byte(pair.Key))
	if err != nil {
		t.Fatal(err)
	}
	for pin, want := range map[string]error{pair.Pin: nil, other.Pin: ErrPin, "": ErrPin} {
		client, server := net.Pipe()
		go func() {
			tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}}).Handshake()
			server.Close()
		}()
		config := Pinned(pin)
		config.ServerName = "elsewhere"
		if err := tls.Client(client, config).Handshake(); !errors.Is(err, want) {
			t.Errorf("the pin %q: %v, not %v", pin, err, want)
		}
		client.Close()
	}
	if cert.Leaf.IsCA {
		t.Error("the certificate can sign others")
	}
}
