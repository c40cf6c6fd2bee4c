// Package lag delays connections between servers.
package lag

import (
	"context"
	"io"
	"net"
	"time"

	"turnstile/internal/relay"
)

// Behind returns the address of a new relay in front of the server at to. The relay delays what the server
// sends, and drops data in transit when the connection ends. The relay runs until this process ends.
func Behind(to string, lag time.Duration) (string, error) {
	r := &relay.Relay{Address: "127.0.0.1:0", Dial: relay.To(to),
		Pass: func(ctx context.Context, to, from net.Conn, up bool) error {
			if up {
				_, err := io.Copy(to, from)
				return err
			}
			return late(ctx, to, from, lag)
		}}
	err := r.Start()
	return r.Address, err
}

// A piece is the data that one read has returned, and the time to forward it.
type piece struct {
	bytes []byte
	due   time.Time
}

// late forwards data between two connections with a delay. It returns when the connection ends, and then
// drops the data in transit.
func late(ctx context.Context, to, from net.Conn, lag time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pieces := make(chan piece, 1024)
	defer close(pieces)
	go func() {
		for p := range pieces {
			select {
			case <-time.After(time.Until(p.due)):
				to.Write(p.bytes) // after an error here, the next read fails too
			case <-ctx.Done():
			}
		}
	}()
	for {
		b := make([]byte, 1<<14)
		n, err := from.Read(b)
		if err != nil {
			return err
		}
		pieces <- piece{b[:n], time.Now().Add(lag)}
	}
}
