package chaos

import (
	"fmt"
	"math"
	"strings"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
)

// mostOfServers is how many faults a ServerPlan has at most, apart from the kill that comes with a promotion.
const mostOfServers = 3

// ServerPlan draws a plan for a run about a service by a seed: one to three faults of its servers, of
// connections between servers and clients, and of clients. lease is how long the service grants the lock or
// the lead; faults last a little less or a little more. All begin in the first half of the run, at a time or
// shortly after a client has requested, entered or left. All end before the last fifth of the run, except a
// promotion and the kill before it. Equal seeds draw equal plans.
func ServerPlan(s *Scene, lease time.Duration, seed uint64) *Plan {
	r := &serverDraw{rolls: rolls{dice: chance.Dice(seed)}, s: s, lease: lease}
	p := &Plan{About: "Drawn by a seed."}
	const tries = 200 // most draws make faults that the run can carry out
	for most, n := 1+r.below(mostOfServers), 0; len(p.Faults) < most && n < tries; n++ {
		var more []Fault
		for _, text := range r.texts() {
			f, err := ParseFault(text)
			if err != nil || f.Check(s) != nil {
				more = nil
				break
			}
			more = append(more, f)
		}
		if all := append(p.Faults[:len(p.Faults):len(p.Faults)], more...); resolves(all, s, seed) {
			p.Faults = all
		}
	}
	return p
}

// The fault of a MinorityPlan begins at minorityAt, and lasts minorityBeyond longer than Servers.Recovers.
const minorityAt, minorityBeyond = time.Second, 3 * time.Second

// HasMinority reports whether the run can measure how clients are served while a minority of the servers is
// stopped.
func (s *Scene) HasMinority() bool {
	return s.Servers.Count >= 3 && s.Servers.Recovers > 0 && kindOf(s.Spec).served
}

// MinorityRun returns how long a run with a MinorityPlan is measured. Its last fifth has no fault.
func MinorityRun(of Servers) time.Duration {
	return (minorityAt + of.Recovers + minorityBeyond) * 5 / 4
}

// MinorityPlan draws a fault of one server by a seed. It lasts longer than the other servers, which are a
// majority, may take to serve again.
func MinorityPlan(s *Scene, seed uint64) *Plan {
	r := &serverDraw{rolls: rolls{dice: chance.Dice(seed)}, s: s}
	which := r.server()
	what := []string{"pause: server " + which, "kill: server " + which}
	if s.Servers.Peers {
		what = append(what, fmt.Sprintf("cut: server %s/servers", which))
	}
	p, text := &Plan{About: "Drawn by a seed."}, r.pick(what...)
	f, err := ParseFault(fmt.Sprintf("%s, at: %v, for: %v", text, minorityAt, s.Servers.Recovers+minorityBeyond))
	if err == nil && resolves([]Fault{f}, s, seed) {
		p.Faults = []Fault{f}
	}
	return p
}

// resolves reports whether Resolve accepts the faults.
func resolves(all []Fault, s *Scene, seed uint64) bool {
	_, err := Resolve(all, s, seed)
	return err == nil
}

// A serverDraw draws faults of servers, as text.
type serverDraw struct {
	rolls
	s     *Scene
	lease time.Duration
}

func (r *serverDraw) pick(words ...string) string { return words[r.below(len(words))] }

// share draws a share of the run in whole milliseconds.
func (r *serverDraw) share(low, high float64) time.Duration {
	share := low + r.dice.Unit(r.roll())*(high-low)
	return max(time.Millisecond, time.Duration(share*float64(r.s.Measured)).Truncate(time.Millisecond))
}

// texts draws one fault, or two that belong together.
func (r *serverDraw) texts() []string {
	if r.s.Servers.Promotes && r.oneIn(5) {
		at := r.share(0.05, 0.4)
		return []string{fmt.Sprintf("kill: server 0, at: %v", at),
			fmt.Sprintf("promote: server 1, at: %v", at+r.share(0.01, 0.2))}
	}
	kinds := []func() (what string, byRun, lasts bool){r.ofClient}
	if r.s.Servers.Count > 0 {
		kinds = append(kinds, r.ofServer, r.ofServer, r.ofConnections, r.ofConnections, r.ofAnswers)
	}
	what, byRun, lasts := kinds[r.below(len(kinds))]()
	parts := []string{what, fmt.Sprintf("at: %v", r.share(0.05, 0.5))}
	if !byRun && r.oneIn(2) { // a fault whose victim the run determines has a moment already
		parts = append(parts, r.moment())
	}
	if lasts {
		parts = append(parts, fmt.Sprintf("for: %v", r.length()))
	}
	return []string{strings.Join(parts, ", ")}
}

// length draws how long a fault lasts: about as long as the lease, or much shorter.
func (r *serverDraw) length() time.Duration {
	shares := []float64{0.01, 0.1, 0.5, 0.9, 0.99, 1.05, 1.5, 2}
	d := time.Duration(shares[r.below(len(shares))] * float64(r.lease)).Truncate(time.Millisecond)
	return min(max(d, 5*time.Millisecond), r.share(0.28, 0.3))
}

// moment draws the moment that a fault waits for, and the time after it.
func (r *serverDraw) moment() string {
	at, what := r.pick("any", "any", "0"), r.pick(kindOf(r.s.Spec).moments...)
	after := time.Duration(math.Pow(float64(r.lease/time.Millisecond), r.dice.Unit(r.roll()))) * time.Millisecond
	if r.oneIn(3) {
		after = 0
	}
	return fmt.Sprintf("when: '%s %s #%d', after: %v", at, what, 1+r.below(5), min(after, r.share(0.15, 0.2)))
}

// server draws one of the servers.
func (r *serverDraw) server() string {
	if r.s.Servers.Leads && r.oneIn(2) {
		return effect.LeadingServer
	}
	return fmt.Sprint(r.below(r.s.Servers.Count))
}

// client draws a client: by number, or by a word such as holder, which the run resolves (byRun).
func (r *serverDraw) client() (client string, byRun bool) {
	words := kindOf(r.s.Spec).clients
	if i := r.below(len(words) + 1); i < len(words) {
		return words[i], true
	}
	return fmt.Sprint(r.below(r.s.Config.N)), false
}

func (r *serverDraw) ofClient() (string, bool, bool) {
	client, byRun := r.client()
	if r.s.Servers.Count == 0 && r.oneIn(2) {
		return "cut: " + r.pick("random", "majority", "leader"), false, true
	}
	return r.pick("pause", "pause", "kill") + ": " + client, byRun, true
}

func (r *serverDraw) ofServer() (string, bool, bool) {
	switch which := r.server(); r.below(5) {
	case 0, 1:
		return "pause: server " + which, false, true
	case 2:
		return fmt.Sprintf("kill: server %s, forget: true", which), false, true
	default:
		return "kill: server " + which, false, true
	}
}

func (r *serverDraw) ofConnections() (string, bool, bool) {
	closes := ""
	if r.oneIn(2) {
		closes = ", close: true"
	}
	if r.s.Servers.Peers && r.s.Servers.Count > 1 && r.oneIn(2) {
		return fmt.Sprintf("cut: server %s/servers%s", r.server(), closes), false, true
	}
	client, byRun := r.client()
	to := "servers"
	if r.oneIn(3) {
		to = "server " + r.server()
	}
	return fmt.Sprintf("cut: %s/%s%s", client, to, closes), byRun, true
}

// ofAnswers draws a lost answer. The fault closes the connection, since the client would otherwise wait for
// the answer forever.
func (r *serverDraw) ofAnswers() (string, bool, bool) {
	client, byRun := r.client()
	return fmt.Sprintf("drop-answer: %s, nth: %d, close: true", client, 1+r.below(6)), byRun, false
}
