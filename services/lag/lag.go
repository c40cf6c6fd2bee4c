// Package lag has connections between servers lag behind.
package lag

import (
	"context"
	"io"
	"net"
	"time"

	"turnstile/internal/relay"
)

// Behind returns an address at which a server is reached with a lag: what it writes comes so much later, and
// what is on its way when it ends is lost. It serves until this process ends.
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

// A piece is what was read at once.
type piece struct {
	bytes []byte
	due   time.Time
}

// late passes on what comes with a lag. It returns once the connection ends, and what is left is lost.
func late(ctx context.Context, to, from net.Conn, lag time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pieces := make(chan piece, 1024)
	defer close(pieces)
	go func() {
		for p := range pieces {
			select {
			case <-time.After(time.Until(p.due)):
				to.Write(p.bytes) // an error ends what comes from there, too
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
