package access

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
)

// linesPerSecond is how many lines the log takes in a second. It counts the others.
const linesPerSecond = 100

// A refusals is the log of the server: whom and what it refuses, and what goes wrong. Clients are named as in
// their keys.
type refusals struct {
	out   io.Writer // nil: nowhere
	names atomic.Pointer[strings.Replacer]

	mu      sync.Mutex
	second  int64 // of the last line
	lines   int   // in that second
	dropped int   // since the last line
}

// know has the log name clients instead of their nkeys.
func (r *refusals) know(clients []client) {
	var pairs []string
	for _, c := range clients {
		pairs = append(pairs, fmt.Sprintf(`"$G/nkey:%s"`, c.key), c.String(), c.key, c.String())
	}
	r.names.Store(strings.NewReplacer(pairs...))
}

// write logs a line. It replaces control characters, so that no text of a client begins a new line.
func (r *refusals) write(format string, v ...any) {
	if r.out == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Unix() != r.second {
		r.second, r.lines = now.Unix(), 0
		if r.dropped > 0 {
			fmt.Fprintf(r.out, "control: %d more lines were left out\n", r.dropped)
			r.dropped = 0
		}
	}
	if r.lines++; r.lines > linesPerSecond {
		r.dropped++
		return
	}
	line := fmt.Sprintf(format, v...)
	if names := r.names.Load(); names != nil {
		line = names.Replace(line)
	}
	line = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, line)
	fmt.Fprintf(r.out, "%s control: %s\n", now.Format(time.TimeOnly), line)
}

// The methods of server.Logger. Notices of the NATS server are about its start and its end.
func (r *refusals) Errorf(format string, v ...any) { r.write(format, v...) }
func (r *refusals) Warnf(format string, v ...any)  { r.write(format, v...) }
func (r *refusals) Fatalf(format string, v ...any) { r.write(format, v...) }
func (r *refusals) Noticef(string, ...any)         {}
func (r *refusals) Debugf(string, ...any)          {}
func (r *refusals) Tracef(string, ...any)          {}
