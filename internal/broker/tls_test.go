package broker

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"turnstile/internal/certs"
)

const limit = 10 * time.Second // generous: the machine may be busy

// certificate makes a certificate for brokers.
func certificate(t *testing.T) *certs.Pair {
	t.Helper()
	p, err := certs.New("test")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run starts a broker until the test ends.
func run(t *testing.T, c Config) *server.Server {
	t.Helper()
	c.Token = "token"
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

// connect connects to a broker by the pin of its certificate, or without one.
func connect(t *testing.T, s *server.Server, pin string) (*nats.Conn, error) {
	t.Helper()
	options := []nats.Option{nats.Token("token"), nats.Timeout(limit)}
	if pin != "" {
		options = append(options, nats.Secure(certs.Pinned(pin)))
	}
	conn, err := nats.Connect(s.ClientURL(), options...)
	if err == nil {
		t.Cleanup(conn.Close)
	}
	return conn, err
}

// A client with TLS connects only to the broker with the pinned certificate. A client without TLS is refused.
func TestClientsSpeakTLS(t *testing.T) {
	own := certificate(t)
	s := run(t, Config{TLS: own})
	if !strings.HasPrefix(s.ClientURL(), "tls://") {
		t.Errorf("its URL is %s", s.ClientURL())
	}
	if _, err := connect(t, s, own.Pin); err != nil {
		t.Error(err)
	}
	if _, err := connect(t, s, certificate(t).Pin); !errors.Is(err, certs.ErrPin) {
		t.Errorf("a client that knows another certificate: %v", err)
	}
	if _, err := connect(t, s, ""); !errors.Is(err, nats.ErrTLS) {
		t.Errorf("a client that knows no certificate: %v", err)
	}
	if _, err := connect(t, run(t, Config{}), own.Pin); !errors.Is(err, nats.ErrSecureConnWanted) {
		t.Errorf("a client that speaks TLS, to a broker that does not: %v", err)
	}
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", Address(0))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Brokers with the same certificate form a cluster. The port for routes refuses any other peer in the TLS
// handshake, before the peer can show a token.
func TestRoutesSpeakTLS(t *testing.T) {
	port, own := freePort(t), certificate(t)
	first := run(t, Config{Name: "first", TLS: own, Routes: &Routes{Port: port, Nowhere: 1}})
	second := run(t, Config{Name: "second", TLS: own, Routes: &Routes{Port: freePort(t), Nowhere: 1,
		Peers: []string{Address(port)}}})
	hears, err := connect(t, first, own.Pin)
	if err != nil {
		t.Fatal(err)
	}
	heard, err := hears.SubscribeSync("x")
	if err == nil {
		err = hears.FlushTimeout(limit)
	}
	if err != nil {
		t.Fatal(err)
	}
	says, err := connect(t, second, own.Pin)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(limit); ; {
		if err := says.Publish("x", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := heard.NextMsg(10 * time.Millisecond); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing passes the route")
		}
	}
	for name, test := range map[string]struct {
		with  *certs.Pair
		taken bool
	}{
		"the same": {own, true},
		"another":  {certificate(t), false},
		"none":     {nil, false},
	} {
		if err := talk(t, Address(port), test.with); (err == nil) != test.taken {
			t.Errorf("certificate: %s: %v", name, err)
		}
	}
}

// talk speaks TLS with a port, and returns an error if that ends before the other side has said something.
func talk(t *testing.T, address string, with *certs.Pair) error {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	if with != nil {
		pair, err := tls.X509KeyPair([]byte(with.Cert), []byte(with.Key))
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(limit))
	_, err = conn.Read(make([]byte, 1))
	return err
}

// A broker listens where it is asked to, and says why it cannot.
func TestListen(t *testing.T) {
	s := run(t, Config{})
	if got := s.Addr().String(); !strings.HasPrefix(got, "127.0.0.1:") {
		t.Errorf("it listens at %s", got)
	}
	s = run(t, Config{Listen: "127.0.0.2", Routes: &Routes{Port: freePort(t), Nowhere: 1}})
	for _, at := range []net.Addr{s.Addr(), s.ClusterAddr()} {
		if !strings.HasPrefix(at.String(), "127.0.0.2:") {
			t.Errorf("it listens at %s", at)
		}
	}
	for says, c := range map[string]Config{
		"cannot listen":             {Port: s.Addr().(*net.TCPAddr).Port, Listen: "127.0.0.2"},
		"cannot assign":             {Listen: "192.0.2.1"},
		"certificate of the broker": {TLS: &certs.Pair{Cert: "x"}},
	} {
		s, err := Start(c)
		if err == nil {
			s.Shutdown()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, not %q", err, says)
		}
	}
}
