package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
)

// A huntOption is an option of a service with the values that plans take of it. Each is as likely.
type huntOption struct {
	name   string
	values []string
}

// A huntSubject says how plans about a service are drawn. What fails by design, such as a plain DEL or a
// session that clients share, is not drawn: docs/service-matrix.md has it.
type huntSubject struct {
	name    string
	lease   string // the option that says for how long it grants; empty, or off: see defaultLease
	renews  bool   // a holder may stay for longer than the lease
	options []huntOption
}

// defaultLease is what the times of faults go by if no option says for how long a service grants.
const defaultLease = time.Second

var (
	onOff    = []string{"off", "on"}
	rarelyOn = []string{"off", "off", "off", "on"}
	onMostly = []string{"on", "on", "off"}
	oneThree = []string{"1", "3", "3"}
)

var huntSubjects = []huntSubject{
	{name: "nats-kv", lease: "ttl", renews: true, options: []huntOption{{"members", oneThree},
		{"ttl", []string{"1s", "1300ms", "2s", "2500ms"}}, {"obey", onMostly}, {"durable", rarelyOn}}},
	{name: "redis", lease: "px", options: []huntOption{{"px", []string{"300ms", "777ms", "1s", "1999ms"}},
		{"fence", onOff}, {"watch", onOff}, {"retry", []string{"1ms", "5ms", "23ms"}},
		{"replica", rarelyOn}, {"durable", onOff}}},
	{name: "redlock", lease: "px", options: []huntOption{{"members", []string{"3", "3", "5"}},
		{"px", []string{"700ms", "1s", "1499ms", "2s"}}, {"tries", []string{"32", "3"}},
		{"delay", []string{"library", "5ms", "30ms"}}, {"drift", []string{"0.01", "0.1"}},
		{"fail-fast", onOff}, {"deadlines", onOff}, {"watch", []string{"on"}}, {"durable", onOff}}},
	{name: "postgres", lease: "idle", renews: true, options: []huntOption{{"fence", onOff},
		{"watch", []string{"off", "read", "ping"}}, {"every", []string{"100ms", "333ms"}},
		{"keepalives", onOff}, {"idle", []string{"off", "700ms", "1500ms"}},
		{"timeout", []string{"400ms", "1s", "5s"}}, {"wait", []string{"900ms", "3s", "1m"}},
		{"durable", rarelyOn}}},
	{name: "zookeeper", lease: "session", renews: true, options: []huntOption{{"members", oneThree},
		{"recipe", []string{"own", "own", "library", "herd"}},
		{"session", []string{"400ms", "900ms", "1300ms", "2s", "3s"}},
		{"lost", []string{"disconnected", "expired"}}, {"obey", onMostly},
		{"failed", []string{"ends", "ends", "kept"}},
		{"durable", rarelyOn}}},
	{name: "etcd", lease: "ttl", renews: true, options: []huntOption{{"members", oneThree},
		{"ttl", []string{"1s", "2s", "3s"}}, {"obey", onMostly}, {"durable", rarelyOn}}},
	{name: "etcd-election", lease: "ttl", renews: true, options: []huntOption{{"members", oneThree},
		{"ttl", []string{"1s", "2s", "3s"}}, {"obey", onMostly},
		{"resign", []string{"0s", "300ms", "1700ms"}}, {"durable", rarelyOn}}},
	{name: "lease", lease: "lease", renews: true, options: []huntOption{{"members", oneThree},
		{"lease", []string{"1s", "2s", "3s"}}, {"renew", []string{"700ms", "990ms", "1900ms"}},
		{"retry", []string{"100ms", "333ms", "490ms"}}, {"release", onOff},
		{"resign", []string{"0s", "0s", "1700ms"}}, {"durable", rarelyOn}}},
	{name: "etcd-raft", options: []huntOption{{"tick", []string{"20ms", "50ms", "70ms"}},
		{"election", []string{"5", "10", "13"}}, {"heartbeat", []string{"1", "3"}}, {"pre-vote", onOff},
		{"check-quorum", onOff}}},
}

// HuntServices returns the services that plans are drawn for.
func HuntServices() (names []string) {
	for _, s := range huntSubjects {
		names = append(names, s.name)
	}
	return names
}

// words draws options.
func (s *huntSubject) words(d *drawn) (words []string) {
	for _, o := range s.options {
		words = append(words, o.name+"="+o.values[d.below(len(o.values))])
	}
	return words
}

// leaseOf returns for how long a service grants with options.
func (s *huntSubject) leaseOf(words []string) time.Duration {
	for _, word := range words {
		if name, value, _ := strings.Cut(word, "="); name == s.lease {
			if d, err := time.ParseDuration(value); err == nil {
				return d
			}
		}
	}
	return defaultLease
}

// drawTries is how often options and faults are drawn that a service may refuse.
const drawTries = 20

// draw draws the plan of a number, from 0: the services take turns. It depends on the seed, the number and
// the services alone.
func (h *Hunt) draw(ctx context.Context, number int) (*ServiceLine, *bench.Job, error) {
	name := h.Services[number%len(h.Services)]
	i := slices.IndexFunc(huntSubjects, func(s huntSubject) bool { return s.name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("no plans are drawn for the service %q", name)
	}
	d, s := drawn{dice: chance.Dice(h.Seed).Of(chance.ForCampaign, number+1)}, &huntSubjects[i]
	var failed error
	for range drawTries {
		words := s.words(&d)
		l := s.load(&d, words)
		subject, err := h.Subject(ctx, name, words, l.Nodes)
		if err == nil {
			scene := &chaos.Scene{Spec: subject.Spec, Config: subject.Config, Measured: l.Duration,
				Servers: subject.Servers}
			l.Demands = l.Demands && subject.Spec.Fenced
			if d.below(6) == 0 && l.mayLackServer(scene) {
				l.Faults = chaos.MinorityPlan(scene, d.bits()).Faults
			} else {
				l.Faults = chaos.ServerPlan(scene, s.leaseOf(words), d.bits()).Faults
			}
			var j *bench.Job
			if j, err = l.Job(subject, d.bits()>>32); err == nil {
				return l, j, nil
			}
		}
		if failed = err; ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	return nil, nil, fmt.Errorf("seed %d, plan %d: none of %d draws is a run: %w", h.Seed, number, drawTries,
		failed)
}

// mayLackServer has the run go on for long enough to show whether clients enter while one of its servers does
// nothing, if most are left then. It reports whether that is so.
func (l *ServiceLine) mayLackServer(s *chaos.Scene) bool {
	if !s.HasMinority() {
		return false
	}
	l.Hold, l.Think = 10*time.Millisecond, 0
	l.Duration = chaos.MinorityRun(s.Servers)
	s.Measured = l.Duration
	return true
}

// load draws what clients do, and how long the run is measured. A lock that nobody renews is held for a
// quarter of its time at most, since no service promises more.
func (s *huntSubject) load(d *drawn, words []string) *ServiceLine {
	lease := s.leaseOf(words)
	l := &ServiceLine{Service: s.name, With: words, Nodes: 2 + d.below(4), Demands: d.below(4) == 0}
	holds := []time.Duration{0, time.Millisecond, 10 * time.Millisecond, lease / 8, lease / 4}
	if s.renews {
		holds = append(holds, lease*99/100, lease*11/10)
	}
	l.Hold = holds[d.below(len(holds))]
	if d.below(3) == 0 {
		l.Think = []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, lease / 2}[d.below(3)]
	}
	l.Duration = min(3*time.Second+2*lease, 7*time.Second)
	return l
}
