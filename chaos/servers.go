package chaos

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"turnstile/chaos/effect"
)

// Servers describes the servers of the service under test, for faults. The zero value is a run without a
// service.
type Servers struct {
	Service  string `yaml:"service"`            // name of the service
	Count    int    `yaml:"count"`              // how many servers the run starts; 0: they run already
	Leads    bool   `yaml:"leads,omitempty"`    // one server leads, or is the primary, and can be found
	Promotes bool   `yaml:"promotes,omitempty"` // a replica or standby can be made the primary
	Peers    bool   `yaml:"peers,omitempty"`    // servers talk to each other over links that can be cut
	Deletes  bool   `yaml:"deletes,omitempty"`  // the key of a holder's or leader's lock can be deleted
	Queues   bool   `yaml:"queues,omitempty"`   // a client that waits has a key that can be deleted too
	Expires  bool   `yaml:"expires,omitempty"`  // the session of a client can be ended
	// Recovers is the time within which servers serve again while more than half are up and joined; 0: unknown.
	Recovers time.Duration `yaml:"recovers,omitempty"`
	NoClock  string        `yaml:"no-clock,omitempty"` // why clocks of servers cannot be set; empty: they can
}

// ofServers reports whether the fault hits servers of a service.
func (f *Fault) ofServers() bool { return f.kind().Layer == effect.OfServers }

// OfServers reports whether some of the faults hit servers of a service.
func OfServers(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.ofServers() })
}

// checkServers checks that the run has the servers that the fault names, and that the fault can hit them.
func (f *Fault) checkServers(s *Scene) error {
	k, of, sides := f.kind(), &s.Servers, effect.MembersIn(f.Effect)
	between := len(sides) > 1 // between servers, not between clients and servers
	no := func(key, format string, args ...any) error {
		return f.mistake(key, "%s: "+format, append([]any{f.What()}, args...)...)
	}
	switch {
	case s.Simulated:
		return no(k.Key, "a simulation has no servers of a service, and nothing stands in for them: make a real "+
			"run, as in bench --service etcd")
	case of.Count == 0 && of.Service != "":
		return no(k.Key, "the run did not start these servers, and does nothing to them: leave out --endpoint")
	case of.Count == 0:
		return no(k.Key, "this run has no servers: choose a service with --service")
	case slices.Contains(k.Filters, "nth") && f.Nth == 0:
		return no("nth", "say which one, counted from the beginning of the fault, as in nth: 1")
	case hasEffect[*effect.Promote](f) && !of.Promotes:
		return no(k.Key, "no server of %s can be promoted: take a service with a replica or a standby", of.Service)
	case k.Sets && of.NoClock != "":
		return no(k.Key, "the clocks of the servers of %s cannot be set: %s", of.Service, of.NoClock)
	case between && of.Count == 1:
		return no(k.Key, "there is one server, and no other to be cut off from: take --with members=3")
	case between && !of.Peers:
		return no(k.Key, "the servers of %s do not talk to each other, or only Linux can tell their connections "+
			"apart: cut clients off from them, as in cut: holder/server 0", of.Service)
	case between && slices.ContainsFunc(sides, func(x effect.Target) bool { return len(x.List) == of.Count }):
		return no(k.Key, "that leaves no server to be cut off from")
	case s.Measured == 0 && f.For == 0 && !f.ForGood():
		return no(k.Key, "this run ends by entries, and might never have them: say how long it lasts, as in "+
			"for: 500ms")
	}
	if why := f.untaken(of); why != "" {
		return no(k.Key, "%s", why)
	}
	for _, side := range sides {
		if side.Word == effect.LeadingServer && !of.Leads {
			return no(k.Key, "no server of %s leads: name one by its number, as in 0", of.Service)
		}
		for _, i := range side.List {
			switch {
			case int(i) < of.Count:
			case of.Count == 1:
				return no(k.Key, "there is no server %d: there is one, and it is 0", i)
			default:
				return no(k.Key, "there is no server %d: they are 0 to %d", i, of.Count-1)
			}
		}
	}
	return nil
}

// untaken returns why the fault cannot take away what clients have at the servers, or "".
func (f *Fault) untaken(of *Servers) string {
	why, instead := "", "take another service"
	switch deletes := hasEffect[*effect.Delete](f); {
	case deletes && !of.Deletes:
		if why = "no key of %s is the lock of a client: "; of.Expires {
			instead = "write expire: session of " + f.target().String()
		}
	case deletes && !of.Queues && f.target().Word == "waiter":
		why, instead = "a client of %s that waits has no key: ", "write delete: lock of holder"
	case hasEffect[*effect.Expire](f) && !of.Expires:
		if why = "clients of %s have no session that can be ended: "; of.Deletes {
			instead = "write delete: lock of " + f.target().String()
		}
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf(why, of.Service) + instead
}

// hitsVictim reports whether the fault hits the node that determines its target. A fault of the holder's
// server hits the server, not the holder.
func (f *Fault) hitsVictim() bool {
	return f.ByRun() && (!f.names(effect.ServerOfHolder) || effect.OfClients(f.Effect))
}

// namesServersByRun reports whether the run determines which server the fault hits.
func (f *Fault) namesServersByRun() bool {
	return f.names(effect.LeadingServer) || f.names(effect.ServerOfHolder)
}

// names reports whether the fault names servers by this word.
func (f *Fault) names(word string) bool {
	return slices.ContainsFunc(effect.MembersIn(f.Effect), func(t effect.Target) bool { return t.Word == word })
}

// SkewsServers reports whether some of the faults set clocks of servers of a service.
func SkewsServers(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.ofServers() && f.kind().Sets })
}

// stopsServers reports whether the fault stops or kills servers while it is in force.
func (f *Fault) stopsServers() bool { return f.ofServers() && (f.kind().Downs || f.kind().Stops) }

// The time between two searches for the leading server, and for how long such searches keep a run from
// counting as stalled, in nanoseconds.
const (
	lookAgain  = int64(20e6)
	mostSearch = int64(30e9)
)

// seeks notes that a fault has looked for a leader in vain.
func (d *Driver) seeks(f *fault) { f.sought = cmp.Or(f.sought, d.cluster.Now()) }

// errRestartsLate means that a node that the fault is to hit is not up again yet.
var errRestartsLate = errors.New("a node restarts later than planned")

// triedLater puts off a fault if err says that no server leads now, or that a node restarts late. It reports
// whether it did.
func (d *Driver) triedLater(f *fault, err error) bool {
	switch {
	case errors.Is(err, effect.ErrNobodyLeads):
		d.seeks(f)
	case err != errRestartsLate:
		return false
	}
	at := d.cluster.Now() + lookAgain
	f.shared.begin(at, d.end(f, at))
	return true
}

// majorityJoined reports whether more than half of the servers are up and reach each other. Servers that a
// fault has stopped or cut off count as not joined until its consequences are over (Leaves).
func (d *Driver) majorityJoined(count int, now int64) bool {
	down, apart := map[int]bool{}, map[[2]int]bool{}
	for _, f := range d.faults {
		if !f.ofServers() || !f.working && (f.ended == 0 || now-f.ended > int64(f.Leaves())) {
			continue
		}
		for _, pair := range f.parted {
			apart[pair] = true
		}
		if f.stopsServers() {
			for _, i := range f.hit {
				down[i] = true
			}
		}
	}
	var up []int
	for i := range count {
		if !down[i] {
			up = append(up, i)
		}
	}
	return 2*mostJoined(up, apart) > count
}

// mostJoined returns the size of the largest set of servers that all reach each other.
func mostJoined(up []int, apart map[[2]int]bool) int {
	if len(up) == 0 {
		return 0
	}
	reached := slices.DeleteFunc(slices.Clone(up[1:]), func(i int) bool { return apart[[2]int{up[0], i}] })
	most := 1 + mostJoined(reached, apart)
	if len(reached) == len(up)-1 {
		return most
	}
	return max(most, mostJoined(up[1:], apart))
}
