// Package certs makes authorities for TLS and the certificates that they sign, all as PEM in memory.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// A Span is when a certificate is valid.
type Span struct{ From, To time.Time }

// SpanOf returns the span from now on. It began a day ago, since the clocks of other hosts may be behind.
func SpanOf(d time.Duration) Span {
	now := time.Now()
	return Span{now.Add(-24 * time.Hour), now.Add(d)}
}

// A Pair is a certificate and its private key, as PEM.
type Pair struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// An Authority signs certificates. Who trusts it takes these for genuine.
type Authority struct {
	pair Pair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes an authority of that name, which is for people.
func NewAuthority(name string, valid Span) (*Authority, error) {
	cert := template(name, valid)
	cert.IsCA, cert.BasicConstraintsValid, cert.MaxPathLenZero = true, true, true
	cert.KeyUsage = x509.KeyUsageCertSign
	pair, err := sign(cert, nil)
	if err != nil {
		return nil, err
	}
	return ReadAuthority(pair)
}

// ReadAuthority returns the authority of which Pair has returned the certificate and the key.
func ReadAuthority(p Pair) (*Authority, error) {
	both, err := tls.X509KeyPair([]byte(p.Cert), []byte(p.Key))
	if err != nil {
		return nil, fmt.Errorf("this is no certificate of an authority with its key: %w", err)
	}
	key, ok := both.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !both.Leaf.IsCA {
		return nil, errors.New("this certificate is not one of an authority that this program has made")
	}
	return &Authority{pair: p, cert: both.Leaf, key: key}, nil
}

// Pair returns the certificate of the authority and its private key. Whoever has the key can sign.
func (a *Authority) Pair() Pair { return a.pair }

// Certificate returns the certificate of the authority, as PEM. Others trust the authority by it.
func (a *Authority) Certificate() string { return a.pair.Cert }

// Issue makes a certificate for a server that is reached at these hosts, each a DNS name or an IP address.
// It also tells another server who calls it. It is not valid for longer than the authority.
func (a *Authority) Issue(name string, hosts []string, valid Span) (Pair, error) {
	if valid.To.After(a.cert.NotAfter) {
		valid.To = a.cert.NotAfter
	}
	cert := template(name, valid)
	cert.KeyUsage = x509.KeyUsageDigitalSignature
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			cert.IPAddresses = append(cert.IPAddresses, ip)
		} else {
			cert.DNSNames = append(cert.DNSNames, host)
		}
	}
	return sign(cert, a)
}

// template returns a certificate without a purpose.
func template(name string, valid Span) *x509.Certificate {
	number := make([]byte, 16)
	rand.Read(number) // never fails
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(number),
		Subject:      pkix.Name{CommonName: name, Organization: []string{"Turnstile"}},
		NotBefore:    valid.From, NotAfter: valid.To,
	}
}

// sign gives a certificate a key of its own and has the authority sign it, or itself if that is nil.
func sign(cert *x509.Certificate, by *Authority) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("making a key: %w", err)
	}
	parent, signer := cert, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, fmt.Errorf("making a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("making a certificate: %w", err)
	}
	return Pair{encode("CERTIFICATE", der), encode("PRIVATE KEY", private)}, nil
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// Trusting returns how a client speaks TLS to servers whose certificates this authority has signed, and to no
// others. The authority is its certificate, as PEM.
func Trusting(authority string) (*tls.Config, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(authority)) {
		return nil, errors.New("the certificate of the authority cannot be read: it is no PEM")
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, nil
}

// Read returns the first certificate of a text in PEM.
func Read(text string) (*x509.Certificate, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("there is no certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}
