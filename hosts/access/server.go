package access

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"turnstile/internal/broker"
	"turnstile/internal/certs"
)

// maxPayload is the maximum size of a message, in bytes.
const maxPayload = 1 << 20

// DefaultPort is the default port of the server.
const DefaultPort = 4222

// A ServerConfig has the settings of the control plane's server.
type ServerConfig struct {
	// Listen is an address and a port, as in 0.0.0.0:4222; port 0 means any free port. Empty: DefaultPort of the
	// loopback address.
	Listen string
	// Keys is a folder made by Make. Empty: no key; clients send a token, and Listen must be a loopback address.
	Keys string
	Log  io.Writer // gets a line for each refusal and each error; nil: there is no log
}

// A Server serves the control plane.
type Server struct {
	nats *server.Server
	url  string
}

// Serve starts the server of the control plane in this process. It listens when Serve returns.
func Serve(c ServerConfig) (*Server, error) {
	at, err := listenAddress(&c)
	if err != nil {
		return nil, err
	}
	o := options(at)
	url := "nats://" + o.Authorization + "@%s"
	if c.Keys != "" {
		if err := addKey(o, c.Keys); err != nil {
			return nil, err
		}
		url = "tls://%s"
	}
	if err := broker.CanListenAt(at.String()); err != nil {
		return nil, fmt.Errorf("the control plane cannot be served there: %w", err)
	}
	s := &Server{}
	if s.nats, err = server.NewServer(o); err != nil {
		return nil, fmt.Errorf("making the server of the control plane: %w", err)
	}
	if c.Log != nil {
		s.nats.SetLogger(logger{log.New(c.Log, "control: ", log.Ltime|log.Lmsgprefix)}, false, false)
	}
	go s.nats.Start()
	if !s.nats.ReadyForConnections(10 * time.Second) {
		s.Close()
		return nil, fmt.Errorf("the server of the control plane does not come up on %v: is the port in use?", at)
	}
	where := s.nats.Addr().(*net.TCPAddr)
	name := where.IP.String()
	if where.IP.IsUnspecified() {
		name, _ = os.Hostname()
	}
	s.url = fmt.Sprintf(url, net.JoinHostPort(name, strconv.Itoa(where.Port)))
	return s, nil
}

// listenAddress returns the address for the server to listen on. Without keys it must be a loopback address.
func listenAddress(c *ServerConfig) (at netip.AddrPort, err error) {
	if c.Listen == "" {
		c.Listen = net.JoinHostPort("127.0.0.1", strconv.Itoa(DefaultPort))
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return at, fmt.Errorf("%q is not an address with a port, as in 127.0.0.1:%d or 0.0.0.0:%[2]d", c.Listen,
			DefaultPort)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return at, fmt.Errorf("%q: there is no port %q: take one of 1 to 65535, or 0 for any that is free",
			c.Listen, port)
	}
	switch host {
	case "localhost":
		host = "127.0.0.1"
	case "": // the address has no host, as in :4222
		host = "0.0.0.0"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return at, fmt.Errorf("%q: %q is not an IP address of this machine: write one, or 0.0.0.0 for all",
			c.Listen, host)
	}
	if c.Keys == "" && !ip.IsLoopback() {
		return at, fmt.Errorf("without keys, the control plane is served only on a loopback address, and %s is "+
			"another: make keys (`orchestrator hosts keys DIR`) and serve with them, or listen on 127.0.0.1", ip)
	}
	return netip.AddrPortFrom(ip, uint16(number)), nil
}

// options returns the options of a NATS server whose clients send a fresh token. Limits for each client let
// the server serve the others while one client floods it.
func options(at netip.AddrPort) *server.Options {
	const loginTime = 10 // seconds for a client to send the secret, on a busy machine
	o := &server.Options{
		ServerName: "turnstile-control", Host: at.Addr().String(), Port: int(at.Port()),
		NoLog: true, NoSigs: true, NoSystemAccount: true, Authorization: broker.NewToken(),
		MaxConn: 4096, MaxSubs: 4096, MaxPayload: maxPayload, MaxControlLine: 4096,
		AuthTimeout: loginTime, TLSTimeout: loginTime,
		MaxPending: 64 << 20, WriteDeadline: time.Minute, // limits for messages that a client does not read
		PingInterval: 30 * time.Second, MaxPingsOut: 3,
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	return o
}

// addKey makes the server use TLS with the certificate of a folder of keys, and require the secret of the
// lab.
func addKey(o *server.Options, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s: `orchestrator hosts keys %[1]s` makes it, with keys", dir)
	}
	k, err := readKey(filepath.Join(dir, LabFile))
	if err != nil {
		return err
	}
	path := filepath.Join(dir, ControlFile)
	text, err := readSecret(path)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(text, text)
	switch {
	case err != nil:
		return fmt.Errorf("%s has no certificate to serve with: %w", path, err)
	case certs.Pin(pair.Leaf) != k.pin:
		return fmt.Errorf("%s has the certificate of another lab than %s: put the file of this lab back", path,
			filepath.Join(dir, LabFile))
	}
	o.Authorization, o.TLS = k.secret, true
	o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
	return nil
}

// Close ends the server and all its connections.
func (s *Server) Close() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// Addr returns the address that the server listens on.
func (s *Server) Addr() string { return s.nats.Addr().String() }

// URL returns the URL for clients. Without keys it contains the token, which is a secret.
func (s *Server) URL() string { return s.url }

// A logger is the server's log of refusals and errors. Notices of the NATS server, about its start and end,
// are left out.
type logger struct{ *log.Logger }

func (l logger) Errorf(format string, v ...any) { l.Printf(format, v...) }
func (l logger) Warnf(format string, v ...any)  { l.Printf(format, v...) }
func (l logger) Fatalf(format string, v ...any) { l.Printf(format, v...) } // log.Logger.Fatalf would exit
func (logger) Noticef(string, ...any)           {}
func (logger) Debugf(string, ...any)            {}
func (logger) Tracef(string, ...any)            {}
