package access

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"turnstile/internal/broker"
	"turnstile/internal/certs"
)

// Limits of the control plane's server for each client. They let it serve the other clients while one floods
// it. It refuses what exceeds a limit, or closes the connection.
const (
	MaxPayload       = 1 << 20  // bytes of a message
	maxPending       = 64 << 20 // bytes that wait for a client which does not read
	maxConnections   = 4096
	maxSubscriptions = 4096 // of a connection
	maxControlLine   = 4096 // bytes of a line of the protocol
	// loginTime is how long a client may take to say who it is, on a machine that is busy.
	loginTime = 10 * time.Second
	// stillTime is how long a client may read nothing while messages wait for it, as when it is stopped.
	stillTime = time.Minute
)

// RefreshPause is how often the server should look for changes of the folder of keys.
const RefreshPause = time.Second

// DefaultPort is where the server listens unless a user says otherwise.
const DefaultPort = 4222

// A ServerConfig has the settings of the control plane's server.
type ServerConfig struct {
	// Listen is an address and a port, as in 0.0.0.0:4222; the port 0 is any that is free. Empty: DefaultPort,
	// on all addresses with keys and on the loopback address without.
	Listen string
	// Keys is a folder of keys. Empty: there are none, so all clients may do everything that know the token, and
	// Listen must be a loopback address.
	Keys  string
	Token string    // without keys: the credential of all clients; empty: a fresh one
	Log   io.Writer // receives a line for each refusal and each error; nil: no log
}

// A Server serves the control plane.
type Server struct {
	config ServerConfig
	nats   *server.Server
	log    *refusals
	at     *net.TCPAddr
	// certificate is that of the server, which may be made anew while it serves; nil: it speaks no TLS.
	certificate atomic.Pointer[tls.Certificate]

	mu      sync.Mutex
	allowed *allowed // nil: there are no keys
	trouble string   // what the last Refresh could not read
}

// Serve starts the server of the control plane in this process. It listens when the call returns.
func Serve(c ServerConfig) (*Server, error) {
	at, err := listenAddress(&c)
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, log: &refusals{out: c.Log}, at: at}
	if c.Keys != "" {
		if err := s.readKeys(); err != nil {
			return nil, err
		}
	} else if c.Token == "" {
		s.config.Token = broker.NewToken()
	}
	if err := broker.CanListenAt(at.String()); err != nil {
		return nil, fmt.Errorf("the control plane cannot be served there: %w", err)
	}
	if s.nats, err = server.NewServer(s.options()); err != nil {
		return nil, fmt.Errorf("making the server of the control plane: %w", err)
	}
	s.nats.SetLogger(s.log, false, false)
	go s.nats.Start()
	if !s.nats.ReadyForConnections(10 * time.Second) {
		s.Close()
		return nil, fmt.Errorf("the server of the control plane does not come up on %v: is the port in use?", at)
	}
	s.at = s.nats.Addr().(*net.TCPAddr)
	return s, nil
}

// listenAddress returns where the server is to listen. Without keys that is on this machine alone.
func listenAddress(c *ServerConfig) (*net.TCPAddr, error) {
	if c.Listen == "" {
		c.Listen = net.JoinHostPort("127.0.0.1", strconv.Itoa(DefaultPort))
		if c.Keys != "" {
			c.Listen = net.JoinHostPort("0.0.0.0", strconv.Itoa(DefaultPort))
		}
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("%q is no address with a port, as in 127.0.0.1:%d or 0.0.0.0:%[2]d", c.Listen,
			DefaultPort)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%q: there is no port %q: take one of 1 to 65535, or 0 for any that is free",
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
		return nil, fmt.Errorf("%q: %q is no IP address of this machine: write one, or 0.0.0.0 for all", c.Listen,
			host)
	}
	if c.Keys == "" && !ip.IsLoopback() {
		return nil, fmt.Errorf("without keys, the control plane is served on a loopback address alone, and %s is "+
			"none: make keys (`orchestrator keys DIR --control HOST`) and serve with them, or listen on 127.0.0.1", ip)
	}
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(number))), nil
}

// readKeys reads the folder of keys.
func (s *Server) readKeys() error {
	dir := s.config.Keys
	switch err := checkFolder(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s: `orchestrator keys %[1]s --control HOST` makes it, with "+
			"keys", dir)
	case err != nil:
		return err
	}
	k, err := readKey(filepath.Join(dir, controlFile))
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair([]byte(k.server.Cert), []byte(k.server.Key))
	if err != nil {
		return fmt.Errorf("%s has no certificate to serve with: %w", filepath.Join(dir, controlFile), err)
	}
	valid := certs.Span{From: pair.Leaf.NotBefore, To: pair.Leaf.NotAfter}
	if err := outside(valid, time.Now()); err != nil {
		return fmt.Errorf("%s: %w: make it anew with `orchestrator keys %s --renew`",
			filepath.Join(dir, controlFile), err, dir)
	}
	a, err := readAllowed(dir)
	if err != nil {
		return err
	}
	s.certificate.Store(&pair)
	s.allowed = a
	s.log.know(a.clients())
	return nil
}

// options returns the options of the NATS server.
func (s *Server) options() *server.Options {
	o := &server.Options{
		ServerName: "turnstile-control", Host: s.at.IP.String(), Port: s.at.Port,
		NoLog: true, NoSigs: true, NoSystemAccount: true,
		MaxConn: maxConnections, MaxSubs: maxSubscriptions, MaxPayload: MaxPayload, MaxPending: maxPending,
		MaxControlLine: maxControlLine, AuthTimeout: loginTime.Seconds(), TLSTimeout: loginTime.Seconds(),
		WriteDeadline: stillTime, PingInterval: 30 * time.Second, MaxPingsOut: 3,
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if s.allowed == nil {
		o.Authorization = s.config.Token
		return o
	}
	o.TLS = true
	o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load(), nil }}
	for _, c := range s.allowed.clients() {
		o.Nkeys = append(o.Nkeys, &server.NkeyUser{Nkey: c.key, Permissions: permissions(c.Identity)})
	}
	if len(o.Nkeys) == 0 { // without any, the server would want no credential
		o.Authorization = broker.NewToken()
	}
	return o
}

// Refresh heeds what has changed in the folder of keys: new keys are let in, and the connections of revoked
// ones end. It returns an error, once for each, if the folder cannot be read; then all stays as it was.
func (s *Server) Refresh() (changed bool, err error) {
	if s.config.Keys == "" {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, was := s.allowed, s.certificate.Load()
	if err := s.readKeys(); err != nil {
		again := err.Error() == s.trouble
		s.trouble = err.Error()
		if again {
			return false, nil
		}
		return false, err
	}
	s.trouble = ""
	renewed := !slices.Equal(was.Certificate[0], s.certificate.Load().Certificate[0])
	if reflect.DeepEqual(before, s.allowed) {
		return renewed, nil
	}
	if err := s.nats.ReloadOptions(s.options()); err != nil {
		s.allowed = before
		return renewed, fmt.Errorf("the server does not take the changed keys: %w", err)
	}
	return true, nil
}

// Run calls Refresh each so often until the context ends, and logs what has changed or cannot be read.
func (s *Server) Run(ctx context.Context, each time.Duration) {
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch changed, err := s.Refresh(); {
		case err != nil:
			s.log.Errorf("%v; it serves with the keys that it has", err)
		case changed:
			s.log.write("the keys have changed: %s", s.Who())
		}
	}
}

// Close ends the server and all its connections.
func (s *Server) Close() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// Addr returns the address on which the server listens.
func (s *Server) Addr() string { return s.at.String() }

// URL returns the URL for clients: with keys, at the first host of the server's certificate unless that is
// valid at the address itself; without keys, with the token in it, which is a secret.
func (s *Server) URL() string {
	cert := s.certificate.Load()
	if cert == nil {
		return fmt.Sprintf("nats://%s@%v", s.config.Token, s.at)
	}
	host := s.at.IP.String()
	if cert.Leaf.VerifyHostname(host) != nil {
		host = hostsOf(cert.Leaf)[0]
	}
	return "tls://" + net.JoinHostPort(host, strconv.Itoa(s.at.Port))
}

// Who returns a list of the clients that may connect, as text: 2 hosts (host-a, host-b) and 1 user (me).
func (s *Server) Who() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.allowed == nil {
		return "whoever has the token may connect"
	}
	return fmt.Sprintf("%s and %s may connect", named(s.allowed.Hosts, "host"), named(s.allowed.Users, "user"))
}

// named counts clients of a role, and names them.
func named(of map[string]string, role string) string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		return "no " + role
	case 1:
		return role + " " + names[0]
	}
	return fmt.Sprintf("%d %ss (%s)", len(names), role, strings.Join(names, ", "))
}

// Warning returns an error that says what will soon end the service; nil: nothing will.
func (s *Server) Warning() error {
	cert := s.certificate.Load()
	if cert == nil || time.Until(cert.Leaf.NotAfter) > 30*24*time.Hour {
		return nil
	}
	return fmt.Errorf("the certificate of the server is valid until %s: make it anew with `orchestrator keys "+
		"%s --renew`, without a restart", cert.Leaf.NotAfter.Format(time.DateOnly), s.config.Keys)
}
