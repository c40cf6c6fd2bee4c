// Package lag has connections between servers lag behind.
package lag

import (
	"net"
	"time"
)

// Behind returns an address at which a server is reached with a lag: what it writes comes so much later, and
// what is on its way when it ends is lost. It serves until this process ends.
func Behind(to string, lag time.Duration) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go relay(c, to, lag)
		}
	}()
	return l.Addr().String(), nil
}

// A piece is what was read at once.
type piece struct {
	bytes []byte
	due   time.Time
}

// relay connects a client to a server.
func relay(client net.Conn, to string, lag time.Duration) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	ended, done := make(chan struct{}, 2), make(chan struct{})
	defer close(done)
	end := func() { ended <- struct{}{} }
	pieces := make(chan piece, 1024)
	go func() {
		defer end()
		read(server, func(b []byte) error {
			select {
			case pieces <- piece{append([]byte(nil), b...), time.Now().Add(lag)}:
				return nil
			case <-done:
				return net.ErrClosed
			}
		})
	}()
	go func() {
		defer end()
		read(client, func(b []byte) error {
			_, err := server.Write(b)
			return err
		})
	}()
	for {
		select {
		case <-ended:
			return
		case p := <-pieces:
			select {
			case <-ended:
				return
			case <-time.After(time.Until(p.due)):
			}
			if _, err := client.Write(p.bytes); err != nil {
				return
			}
		}
	}
}

// read reads until the connection or what is done with it fails.
func read(c net.Conn, do func([]byte) error) {
	b := make([]byte, 1<<14)
	for {
		n, err := c.Read(b)
		if err != nil || do(b[:n]) != nil {
			return
		}
	}
}
