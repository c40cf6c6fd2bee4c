// Package broker runs the embedded NATS server, on the loopback address alone.
package broker

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A Config says how a broker is to run.
type Config struct {
	Name   string  `json:"name"`  // of the server among others; empty: turnstile
	Port   int     `json:"port"`  // on the loopback address; 0: any that is free
	Token  string  `json:"token"` // the credential that clients must show
	Routes *Routes `json:"routes,omitempty"`
}

// A Routes says how a broker is to find the other brokers of its cluster. Between two of them there is
// one route, which one of them opens. So the messages of a link keep their order.
type Routes struct {
	Port  int      `json:"port"`  // on the loopback address, for others to connect to
	Peers []string `json:"peers"` // addresses of those that this one connects to, again and again if need be
	// Nowhere is a port on which nobody listens. It is what the brokers tell each other as their address, since
	// otherwise they would open routes that are not among these.
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

// maxPause is longer than any pause of a node. The broker keeps what such a node has not read, and does not
// disconnect it, which would lose messages.
const maxPause = 5 * time.Minute

// routeUser is who brokers are to each other.
const routeUser = "broker"

// options returns the options of the server.
func (c *Config) options() *server.Options {
	o := &server.Options{
		ServerName: "turnstile", Host: "127.0.0.1", Port: c.Port, Authorization: c.Token,
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
	r := c.Routes
	if r == nil {
		return o
	}
	o.Cluster = server.ClusterOpts{
		Name: "turnstile", Host: "127.0.0.1", Port: r.Port, Username: routeUser, Password: c.Token,
		AuthTimeout: 60, NoAdvertise: true, Advertise: Address(r.Nowhere),
		PoolSize:      -1, // a pool would have routes that come and go one by one
		WriteDeadline: maxPause,
		MaxPingsOut:   int(maxPause / (10 * time.Second)), // the other end is asked for one each 30 s
		Compression:   server.CompressionOpts{Mode: server.CompressionOff},
	}
	for _, peer := range r.Peers {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: peer,
			User: url.UserPassword(routeUser, c.Token)})
	}
	return o
}

// Start runs a NATS server in this process. It listens on the loopback address alone.
func Start(c Config) (*server.Server, error) {
	ports := []int{c.Port}
	if c.Routes != nil {
		ports = append(ports, c.Routes.Port)
	}
	for _, port := range ports { // the server itself would try again and again
		if err := CanListen(port); err != nil {
			return nil, fmt.Errorf("the broker cannot listen: %w", err)
		}
	}
	s, err := server.NewServer(c.options())
	if err != nil {
		return nil, fmt.Errorf("making the broker: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("the broker does not come up on 127.0.0.1:%d: is the port in use?", c.Port)
	}
	return s, nil
}

// Address returns the address of a port, as in 127.0.0.1:4222.
func Address(number int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(number)) }

// CanListen returns an error if somebody else listens on the port with that number.
func CanListen(number int) error {
	probe, err := net.Listen("tcp", Address(number))
	if err != nil {
		return err
	}
	return probe.Close()
}
