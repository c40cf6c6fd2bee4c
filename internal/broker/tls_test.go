package broker

import (
	"crypto/tls"
	"crypto/x509"
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

// authority makes an authority.
func authority(t *testing.T) *certs.Authority {
	t.Helper()
	a, err := certs.NewAuthority("test", certs.SpanOf(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// speaking returns what a broker on the loopback address needs to speak TLS.
func speaking(t *testing.T, a *certs.Authority) *TLS {
	t.Helper()
	p, err := a.Issue("broker", []string{"127.0.0.1"}, certs.SpanOf(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return &TLS{Cert: p.Cert, Key: p.Key, CA: a.Certificate()}
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

// connect connects to a broker with the certificate of an authority, or with none.
func connect(t *testing.T, s *server.Server, ca string) (*nats.Conn, error) {
	t.Helper()
	options := []nats.Option{nats.Token("token"), nats.Timeout(limit)}
	if ca != "" {
		trusting, err := certs.Trusting(ca)
		if err != nil {
			t.Fatal(err)
		}
		options = append(options, nats.Secure(trusting))
	}
	conn, err := nats.Connect(s.ClientURL(), options...)
	if err == nil {
		t.Cleanup(conn.Close)
	}
	return conn, err
}

// A broker that speaks TLS takes clients that know its authority, and those know a broker of another.
func TestClientsSpeakTLS(t *testing.T) {
	a := authority(t)
	s := run(t, Config{TLS: speaking(t, a)})
	if !strings.HasPrefix(s.ClientURL(), "tls://") {
		t.Errorf("its URL is %s", s.ClientURL())
	}
	if _, err := connect(t, s, a.Certificate()); err != nil {
		t.Error(err)
	}
	for _, ca := range []string{"", authority(t).Certificate()} {
		if _, err := connect(t, s, ca); !errors.As(err, new(x509.UnknownAuthorityError)) {
			t.Errorf("a client that does not know the authority: %v", err)
		}
	}
	if _, err := connect(t, run(t, Config{}), a.Certificate()); !errors.Is(err, nats.ErrSecureConnWanted) {
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

// Brokers of one authority are a cluster. Who has no certificate of that authority is refused by the port for
// routes, before it could show a token.
func TestRoutesSpeakTLS(t *testing.T) {
	a := authority(t)
	port := freePort(t)
	own := speaking(t, a)
	first := run(t, Config{Name: "first", TLS: own, Routes: &Routes{Port: port, Nowhere: 1}})
	second := run(t, Config{Name: "second", TLS: speaking(t, a), Routes: &Routes{Port: freePort(t), Nowhere: 1,
		Peers: []string{Address(port)}}})
	hears, err := connect(t, first, a.Certificate())
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
	says, err := connect(t, second, a.Certificate())
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
		with  *TLS
		taken bool
	}{
		"of the same authority": {own, true},
		"of another":            {speaking(t, authority(t)), false},
		"none":                  {nil, false},
	} {
		if err := talk(t, Address(port), test.with); (err == nil) != test.taken {
			t.Errorf("a certificate %s: %v", name, err)
		}
	}
}

// talk speaks TLS with a port, and returns an error if that ends before the other side has said something.
func talk(t *testing.T, address string, with *TLS) error {
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
	blind := speaking(t, authority(t))
	blind.CA = "x"
	for says, c := range map[string]Config{
		"cannot listen":                {Port: s.Addr().(*net.TCPAddr).Port, Listen: "127.0.0.2"},
		"cannot assign":                {Listen: "192.0.2.1"},
		"certificate of the broker":    {TLS: &TLS{Cert: "x"}},
		"certificate of the authority": {TLS: blind},
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
