package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"turnstile/nodes/foreign/program"
)

// client is the foreign program of one node.
func (s *Service) client(v Values, in io.Reader, out io.Writer) error {
	if s.Open == nil {
		return s.Client(v, s.Declare(v), in, out)
	}
	obeys := s.Obeys == nil || s.Obeys(v)
	return program.ServeLock(in, out, s.Declare(v), obeys,
		func(ctx context.Context, set program.Setting) (program.Lock, error) { return s.Open(ctx, set, v) })
}

// An Opener opens the client of one node.
type Opener[L program.Lock] func(context.Context, program.Setting, Values) (L, error)

// Opens returns a function that opens locks of some type as one that opens a [program.Lock].
func Opens[L program.Lock](open Opener[L]) Opener[program.Lock] {
	return func(ctx context.Context, s program.Setting, v Values) (program.Lock, error) {
		return open(ctx, s, v)
	}
}

// A Direct is what a client has done that was called directly, without a node, lines or records.
type Direct struct {
	Entries int     `json:"entries"` // how often it took the lock and gave it back
	Seconds float64 `json:"seconds"` // in how long
}

// Direct has one client in a process of its own use servers, each host:port, for a length of time.
func (p *Program) Direct(ctx context.Context, servers []string, length time.Duration) (d Direct, err error) {
	args := append(p.args("direct"), "--endpoint", strings.Join(servers, ","), "--for", length.String())
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var says strings.Builder
	cmd.Stderr = &says
	out, err := output(cmd, false)
	if err == nil {
		err = json.Unmarshal(out, &d)
	}
	if err != nil || d.Seconds <= 0 {
		return d, fmt.Errorf("calling a client of %s directly: %v: %s", p.Name, err,
			strings.TrimSpace(says.String()))
	}
	return d, nil
}

// directWarmup is for how long a client takes the lock before that counts: its library connects, and servers
// load the scripts that it sends.
const directWarmup = 300 * time.Millisecond

// refusedPause is how long a client waits that was refused the lock, as its node does on average.
const refusedPause = 10 * time.Millisecond

// direct has one client take the lock and give it back for a length of time, in this process, and writes what
// came of it: a Direct, as JSON.
func (s *Service) direct(v Values, endpoint string, length time.Duration, out io.Writer) error {
	switch {
	case s.Open == nil:
		return wrongCall{fmt.Errorf("%s grants no lock that a client could take", s.Name)}
	case endpoint == "":
		return wrongCall{errors.New("direct takes servers that run: add --endpoint host:port, with commas between")}
	case length <= 0:
		return wrongCall{fmt.Errorf("--for %v: write a length of time, as in 2s", length)}
	}
	ctx := context.Background()
	lock, err := s.Open(ctx, program.Setting{Name: "n0", Names: []string{"n0"}, Options: program.Options{
		Servers: strings.Split(endpoint, ","), Prefix: "turnstile/direct/"}}, v)
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := enterFor(ctx, lock, directWarmup); err != nil {
		return err
	}
	d, err := enterFor(ctx, lock, length)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(d)
}

// enterFor takes a lock and gives it back until a length of time is over.
func enterFor(ctx context.Context, lock program.Lock, length time.Duration) (d Direct, err error) {
	began := time.Now()
	for time.Since(began) < length {
		_, err := lock.Acquire(ctx)
		if errors.Is(err, program.ErrRefused) {
			time.Sleep(refusedPause)
			continue
		}
		if err == nil {
			err = lock.Release(ctx)
		}
		if err != nil {
			return d, err
		}
		d.Entries++
	}
	d.Seconds = time.Since(began).Seconds()
	return d, nil
}
