// Package broker runs the embedded NATS server, on the loopback address by default.
package broker

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"turnstile/internal/certs"
)

// A Config configures a broker.
type Config struct {
	Name   string `json:"name"`             // name of the server among the brokers; empty: turnstile
	Listen string `json:"listen,omitempty"` // IP address to listen on; empty: 127.0.0.1
	Port   int    `json:"port"`             // port on that address; 0: any free port
	Token  string `json:"token"`            // the credential that clients must show
	// TLS is the certificate of all brokers of a cluster. Clients and routes must use TLS, and a route demands
	// the same certificate from the other broker. Nil: no TLS.
	TLS    *certs.Pair `json:"tls,omitempty"`
	Routes *Routes     `json:"routes,omitempty"`
}

// A Routes connects a broker to the other brokers of its cluster. Two brokers have one route between them,
// which one of them opens, so the messages of a link keep their order.
type Routes struct {
	Port  int      `json:"port"`  // port on the broker's address, for routes from other brokers
	Peers []string `json:"peers"` // addresses of brokers to connect to, with retries after a failure
	// Nowhere is a port without a listener. Brokers advertise it as their address: otherwise they would open
	// further routes.
	Nowhere int `json:"nowhere"`
}

// Version is the version of the embedded NATS server.
const Version = server.VERSION

// NewToken returns a fresh credential.
func NewToken() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// maxPause is longer than any pause of a node. For that long the broker keeps the unread messages of a node,
// and does not disconnect it, which would lose them.
const maxPause = 5 * time.Minute

// routeUser is the user name of brokers on routes.
const routeUser = "broker"

// Loopback is the default address of brokers.
const Loopback = "127.0.0.1"

// options returns the options of the server.
func (c *Config) options() (*server.Options, error) {
	o := &server.Options{
		ServerName: "turnstile", Host: cmp.Or(c.Listen, Loopback), Port: c.Port, Authorization: c.Token,
		NoLog: true, NoSigs: true, NoSystemAccount: true,
		MaxConn: 1 << 20, MaxPending: 1 << 30, WriteDeadline: maxPause,
		PingInterval: maxPause, AuthTimeout: 60,
	}
	if c.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if c.Name != "" {
		o.ServerName = c.Name
	}
	if c.TLS != nil {
		pair, err := tls.X509KeyPair([]byte(c.TLS.Cert), []byte(c.TLS.Key))
		if err != nil {
			return nil, fmt.Errorf("the certificate of the broker cannot be used: %w", err)
		}
		o.TLS, o.TLSTimeout = true, o.AuthTimeout
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
	}
	if c.Routes != nil {
		c.addRoutes(o)
	}
	return o, nil
}

// addRoutes makes the server part of a cluster.
func (c *Config) addRoutes(o *server.Options) {
	r := c.Routes
	o.Cluster = server.ClusterOpts{
		Name: "turnstile", Host: o.Host, Port: r.Port, Username: routeUser, Password: c.Token,
		AuthTimeout: 60, NoAdvertise: true, Advertise: AddressAt(o.Host, r.Nowhere),
		PoolSize:      -1, // no pool: its routes would connect and disconnect one by one
		WriteDeadline: maxPause,
		MaxPingsOut:   int(maxPause / (10 * time.Second)), // at a ping every 30 s, these take longer than maxPause
		Compression:   server.CompressionOpts{Mode: server.CompressionOff},
	}
	for _, peer := range r.Peers {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: peer,
			User: url.UserPassword(routeUser, c.Token)})
	}
	if c.TLS != nil {
		both := certs.Pinned(c.TLS.Pin)
		both.Certificates, both.ClientAuth = o.TLSConfig.Certificates, tls.RequireAnyClientCert
		o.Cluster.TLSConfig, o.Cluster.TLSTimeout = both, o.AuthTimeout
	}
}

// Start runs a NATS server in this process.
func Start(c Config) (*server.Server, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	ports := []int{c.Port}
	if c.Routes != nil {
		ports = append(ports, c.Routes.Port)
	}
	for _, port := range ports { // checked here, since the server would retry forever
		if err := CanListenAt(net.JoinHostPort(o.Host, strconv.Itoa(port))); err != nil {
			return nil, fmt.Errorf("the broker cannot listen: %w", err)
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("making the broker: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("the broker does not come up on %s:%d: is the port in use?", o.Host, c.Port)
	}
	return s, nil
}

// Address returns the address of a port, as in 127.0.0.1:4222.
func Address(number int) string { return AddressAt(Loopback, number) }

// AddressAt returns the address of a port of some host.
func AddressAt(host string, number int) string { return net.JoinHostPort(host, strconv.Itoa(number)) }

// CanListenAt returns an error if this program cannot listen on an address with its port, as when another
// program listens there.
func CanListenAt(address string) error {
	probe, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return probe.Close()
}
