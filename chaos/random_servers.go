package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes/port"
)

// mostOfServers is how many faults a ServerPlan has at most, apart from the kill that comes with a promotion.
const mostOfServers = 3

// serverFaults are the faults that a ServerPlan draws from. Words in braces are drawn: see serverDraw.word. A
// fault that is listed twice is twice as likely, and one that the run cannot have is drawn anew.
var serverFaults = []string{
	"pause: {client}", "pause: {client}", "pause: {some}", "kill: {client}",
	"pause: server {server}", "pause: server {server}", "kill: server {server}", "kill: server {server}",
	"kill: server {server}, for: {length}, forget: true", "clock: server {server}, by: {length}",
	"cut: {client}/servers{close}", "cut: {some}/server {server}{close}", "cut: server {server}/servers{close}",
	"drop-answer: {client}, nth: {few}, close: true", "hold-request: {client}, nth: {few}, by: {length}",
	"delete: lock of {client}", "expire: session of {client}", "leave: {client}",
}

// peerFaults are the faults of a service without servers, whose nodes send each other messages.
var peerFaults = []string{"pause: {client}", "pause: {some}", "kill: {client}", "cut: {part}", "cut: {part}",
	"cut: {some}", "clock: {client}, by: {length}"}

// A Pace says which times a ServerPlan draws.
type Pace struct {
	Lease time.Duration // how long the service grants the lock or the lead
	Each  time.Duration // about the time from one entry to the next
	Calm  bool          // the faults are over once nothing that they leave behind explains a failure
}

// ServerPlan draws a plan for a run about a service by a seed: one to three faults of its servers, of
// connections between servers and clients, and of clients. Faults last a little less or a little more than
// the lease. They begin soon, at a time or shortly after a client has requested, entered or left; of two
// faults, the second often begins while the first lasts. Equal seeds draw equal plans.
func ServerPlan(s *Scene, pace Pace, seed uint64) *Plan {
	r := &serverDraw{rolls: rolls{dice: chance.Dice(seed)}, s: s, Pace: pace}
	p := &Plan{About: "Drawn by a seed."}
	const tries = 200 // most draws make faults that the run can carry out
	for most, n := 1+r.below(mostOfServers), 0; len(p.Faults) < most && n < tries; n++ {
		more := r.faults(p.Faults)
		all := append(p.Faults[:len(p.Faults):len(p.Faults)], more...)
		if resolves(all, s, seed) && s.returns(all) {
			p.Faults = all
		}
	}
	return p
}

// returns reports whether a server that has lost its data can get it from the others again, if they have what
// it had: no other fault strikes servers, or links between them.
func (s *Scene) returns(all []Fault) bool {
	struck, forgets := 0, false
	for i := range all {
		if all[i].kind().Role == port.Server && !effect.OfClients(all[i].Effect) {
			struck++
		}
		forgets = forgets || effect.Forgets(all[i].Effect)
	}
	return !s.Servers.Peers && !s.Servers.Promotes || !forgets || struck <= 1
}

// Over returns when the faults of a ServerPlan are over at the earliest.
func (p Pace) Over(faults []Fault) (at time.Duration) {
	for i := range faults {
		f := &faults[i]
		end := f.At + f.After + f.For
		if held, is := f.Effect.(*effect.HoldRequest); is {
			end += held.By
		}
		if !f.Timed() {
			end += time.Duration(max(1, f.When.Nth)) * p.Each
		}
		if p.Calm {
			end += f.Leaves()
		}
		at = max(at, end)
	}
	return at
}

// The fault of a MinorityPlan begins at minorityAt, and lasts minorityBeyond longer than the other servers,
// which are a majority, and the clients may take until clients enter again.
const minorityAt, minorityBeyond = time.Second, 3 * time.Second

// HasMinority reports whether the run can measure how clients are served while a minority of the servers is
// stopped.
func (s *Scene) HasMinority() bool {
	return s.Servers.Count >= 3 && s.Servers.Recovers > 0 && kindOf(s.Spec).served
}

func (s *Scene) minorityFor() time.Duration {
	return max(s.Servers.Recovers, s.Spec.GraceOf(s.Config)) + minorityBeyond
}

// MinorityRun returns how long a run with a MinorityPlan is measured. Its last fifth has no fault.
func (s *Scene) MinorityRun() time.Duration { return (minorityAt + s.minorityFor()) * 5 / 4 }

// MinorityPlan draws a fault of one server by a seed.
func MinorityPlan(s *Scene, seed uint64) *Plan {
	r := &serverDraw{rolls: rolls{dice: chance.Dice(seed)}, s: s}
	which := r.word("server")
	what := []string{"pause: server " + which, "kill: server " + which}
	if s.Servers.Peers {
		what = append(what, fmt.Sprintf("cut: server %s/servers", which))
	}
	p, text := &Plan{About: "Drawn by a seed."}, r.pick(what...)
	f, err := ParseFault(fmt.Sprintf("%s, at: %v, for: %v", text, minorityAt, s.minorityFor()))
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

// A serverDraw draws faults of servers.
type serverDraw struct {
	rolls
	Pace
	s *Scene
}

func (r *serverDraw) pick(words ...string) string { return words[r.below(len(words))] }

// between draws a time in whole milliseconds.
func (r *serverDraw) between(least, most time.Duration) time.Duration {
	d := least + time.Duration(r.dice.Unit(r.roll())*float64(most-least))
	return max(time.Millisecond, d.Truncate(time.Millisecond))
}

// faults draws one fault, or two that belong together; nil: the run cannot have what was drawn.
func (r *serverDraw) faults(before []Fault) (all []Fault) {
	at := r.between(50*time.Millisecond, time.Second)
	if n := len(before); n > 0 && r.oneIn(2) { // while the last one lasts
		at = before[n-1].At + r.between(0, max(before[n-1].For, time.Second))
	}
	texts := []string{r.pick(serverFaults...)}
	switch {
	case r.s.Servers.Count == 0:
		texts = []string{r.pick(peerFaults...)}
	case r.s.Servers.Promotes && r.oneIn(3) && !slices.ContainsFunc(before, hasPromotion):
		texts = []string{"kill: server 0", "promote: server 1"}
	}
	moment := ""
	if r.oneIn(2) && (len(before) > 0 || kindOf(r.s.Spec).served) { // who leads leads on, without a fault
		moment = r.moment()
	}
	for i, text := range texts {
		text = r.drawn(text)
		f, err := ParseFault(text)
		if moment != "" && err == nil && !f.ByRun() { // what determines its victim is a moment already
			f, err = ParseFault(text + moment)
		}
		if err != nil {
			return nil
		}
		f.At = at
		if by := r.between(0, time.Second); i > 0 && moment != "" {
			f.After += by
		} else if i > 0 {
			f.At += by
		}
		if !f.ForGood() || f.kind().Downs && len(texts) == 1 {
			f.For = r.length()
		}
		if f.Check(r.s) != nil {
			return nil
		}
		all = append(all, f)
	}
	return all
}

// hasPromotion reports whether the fault promotes a server, which can be done once.
func hasPromotion(f Fault) bool { return hasEffect[*effect.Promote](&f) }

// drawn replaces the words in braces of a fault.
func (r *serverDraw) drawn(text string) string {
	for {
		before, rest, found := strings.Cut(text, "{")
		word, after, _ := strings.Cut(rest, "}")
		if !found {
			return text
		}
		text = before + r.word(word) + after
	}
}

// word draws what a word in braces stands for.
func (r *serverDraw) word(word string) string {
	n := r.s.Config.N
	switch word {
	case "client":
		return r.pick(append(kindOf(r.s.Spec).clients, fmt.Sprint(r.below(n)))...)
	case "some":
		return r.pick(r.word("client"), fmt.Sprintf("0-%d", n-1), fmt.Sprintf("0-%d", max(0, n-2)))
	case "server":
		if r.s.Servers.Leads && r.oneIn(2) {
			return effect.LeadingServer
		}
		return fmt.Sprint(r.below(r.s.Servers.Count))
	case "part":
		return r.pick("random", "majority", "leader")
	case "close":
		return r.pick("", ", close: true")
	case "few":
		return fmt.Sprint(1 + r.below(6))
	}
	return r.length().String()
}

// length draws how long a fault lasts: about as long as the lease, or much shorter.
func (r *serverDraw) length() time.Duration {
	shares := []float64{0.02, 0.5, 0.99, 1.05, 1.5, 2, 3}
	d := time.Duration(shares[r.below(len(shares))] * float64(r.Lease)).Truncate(time.Millisecond)
	return max(d, 5*time.Millisecond)
}

// moment draws the moment that a fault waits for, and the time after it.
func (r *serverDraw) moment() string {
	at, what := r.pick("any", "any", "0"), r.pick(kindOf(r.s.Spec).moments...)
	few := 1
	if kindOf(r.s.Spec).served {
		few += int(min(4, 2*time.Second/max(r.Each, time.Millisecond)))
	}
	after := time.Duration(math.Pow(float64(r.Lease/time.Millisecond), r.dice.Unit(r.roll()))) * time.Millisecond
	if r.oneIn(3) {
		after = 0
	}
	return fmt.Sprintf(", when: '%s %s #%d', after: %v", at, what, 1+r.below(few), after)
}
