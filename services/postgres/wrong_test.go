package postgres

import (
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"turnstile/services/servicetest"
)

// fake is a server of somebody else, which answers a client that begins a session. It returns its address.
func fake(t *testing.T, answer func(b *pgproto3.Backend, c net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				defer c.Close()
				b := pgproto3.NewBackend(c, c)
				if _, err := b.ReceiveStartupMessage(); err == nil {
					answer(b, c)
				}
			}()
		}
	}()
	return l.Addr().String()
}

// refuses returns an answer that is an error.
func refuses(code, says string) func(*pgproto3.Backend, net.Conn) {
	return func(b *pgproto3.Backend, _ net.Conn) {
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: says})
		b.Flush()
	}
}

// A server of somebody else that wants a password, is of another version or speaks something else is named in
// one line before anybody asks for the lock.
func TestServersOfSomebodyElse(t *testing.T) {
	for says, answer := range map[string]func(*pgproto3.Backend, net.Conn){
		"password authentication failed": func(b *pgproto3.Backend, c net.Conn) {
			b.Send(&pgproto3.AuthenticationCleartextPassword{})
			if b.Flush() == nil && b.SetAuthType(pgproto3.AuthTypeCleartextPassword) == nil {
				b.Receive() // the password, which is empty
				refuses("28P01", `password authentication failed for user "turnstile"`)(b, c)
			}
		},
		`role "turnstile" does not exist`: refuses("28000", `role "turnstile" does not exist`),
		"unsupported frontend protocol":   refuses("0A000", "unsupported frontend protocol 3.0"),
		"is of version 9.4.26": func(b *pgproto3.Backend, _ net.Conn) {
			b.Send(&pgproto3.AuthenticationOk{})
			b.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: "9.4.26"})
			b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			if b.Flush() == nil {
				b.Receive()
			}
		},
		"does not answer as PostgreSQL does": func(_ *pgproto3.Backend, c net.Conn) {
			c.Write([]byte("nonsense \x00\xff\r\n" + strings.Repeat("\x00", 100)))
		},
	} {
		at := fake(t, answer)
		s := servicetest.Setting("x", at)
		l, err := open(t.Context(), s, servicetest.Values(t, &Service, "timeout=2s"))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), at) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("the error is %v, and is to say %q in one line", err, says)
		}
		if l != nil {
			l.Close()
		}
	}
}
