// Package certs makes certificates for TLS that are verified by a pin, the SHA-256 of their public key. They
// need no authority, host names or expiry. Programs that cannot check a pin may take a certificate as its own
// authority, for servers at 127.0.0.1.
package certs

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// A Pair is a certificate with its private key, as PEM, and its pin.
type Pair struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
	Pin  string `json:"pin"` // as Pin returns it
}

// noEnd is the expiry of a certificate that never expires (RFC 5280, 4.1.2.5).
var noEnd = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// New makes a certificate with a fresh private key. The name is for people.
func New(name string) (*Pair, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: noEnd,
		Subject:     pkix.Name{CommonName: name, Organization: []string{"Turnstile"}},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, public, private)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err == nil {
		cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	return &Pair{encode("CERTIFICATE", der), encode("PRIVATE KEY", key), Pin(cert)}, nil
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// Pin returns the pin of a certificate: the SHA-256 of its public key, in hexadecimal digits.
func Pin(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// ErrPin is the error of a TLS connection whose other end has a certificate with another pin.
var ErrPin = errors.New("the certificate at the other end is not the one that is pinned")

// Pinned returns a TLS configuration that accepts only the certificate with a pin.
func Pinned(pin string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection checks the certificate instead
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || Pin(s.PeerCertificates[0]) != pin {
				return ErrPin
			}
			return nil
		}}
}
