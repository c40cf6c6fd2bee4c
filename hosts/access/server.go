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

// maxPayload is how many bytes a message may have.
const maxPayload = 1 << 20

// DefaultPort is where the server listens unless a user says otherwise.
const DefaultPort = 4222

// A ServerConfig has the settings of the control plane's server.
type ServerConfig struct {
	// Listen is an address and a port, as in 0.0.0.0:4222; the port 0 is any that is free. Empty: DefaultPort
	// of the loopback address.
	Listen string
	// Keys is a folder that Make has made. Empty: there is no key, clients show a token, and Listen must be a
	// loopback address.
	Keys string
	Log  io.Writer // receives a line for each refusal and each error; nil: no log
}

// A Server serves the control plane.
type Server struct {
	nats *server.Server
	url  string
}

// Serve starts the server of the control plane in this process. It listens when the call returns.
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

// listenAddress returns where the server is to listen. Without keys that is on this machine alone.
func listenAddress(c *ServerConfig) (at netip.AddrPort, err error) {
	if c.Listen == "" {
		c.Listen = net.JoinHostPort("127.0.0.1", strconv.Itoa(DefaultPort))
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return at, fmt.Errorf("%q is no address with a port, as in 127.0.0.1:%d or 0.0.0.0:%[2]d", c.Listen,
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
	case "": // as in :4222
		host = "0.0.0.0"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return at, fmt.Errorf("%q: %q is no IP address of this machine: write one, or 0.0.0.0 for all", c.Listen,
			host)
	}
	if c.Keys == "" && !ip.IsLoopback() {
		return at, fmt.Errorf("without keys, the control plane is served on a loopback address alone, and %s is "+
			"another: make keys (`orchestrator hosts keys DIR`) and serve with them, or listen on 127.0.0.1", ip)
	}
	return netip.AddrPortFrom(ip, uint16(number)), nil
}

// options returns the options of a NATS server whose clients show a fresh token. The limits of each client
// let the server serve the others while one floods it.
func options(at netip.AddrPort) *server.Options {
	const loginTime = 10 // seconds that a client may take to show the secret, on a machine that is busy
	o := &server.Options{
		ServerName: "turnstile-control", Host: at.Addr().String(), Port: int(at.Port()),
		NoLog: true, NoSigs: true, NoSystemAccount: true, Authorization: broker.NewToken(),
		MaxConn: 4096, MaxSubs: 4096, MaxPayload: maxPayload, MaxControlLine: 4096,
		AuthTimeout: loginTime, TLSTimeout: loginTime,
		MaxPending: 64 << 20, WriteDeadline: time.Minute, // of messages that a client does not read
		PingInterval: 30 * time.Second, MaxPingsOut: 3,
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	return o
}

// addKey has the server speak TLS by the certificate of a folder of keys, and want the secret of the lab.
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

// Addr returns the address on which the server listens.
func (s *Server) Addr() string { return s.nats.Addr().String() }

// URL returns the URL for clients. Without keys it has the token in it, which is a secret.
func (s *Server) URL() string { return s.url }

// A logger is the log of the server: whom it refuses, and what goes wrong. Notices of the NATS server are
// about its start and its end.
type logger struct{ *log.Logger }

func (l logger) Errorf(format string, v ...any) { l.Printf(format, v...) }
func (l logger) Warnf(format string, v ...any)  { l.Printf(format, v...) }
func (l logger) Fatalf(format string, v ...any) { l.Printf(format, v...) } // that of log.Logger would exit
func (logger) Noticef(string, ...any)           {}
func (logger) Debugf(string, ...any)            {}
func (logger) Tracef(string, ...any)            {}
