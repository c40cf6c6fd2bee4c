// Package foreign lets a program in any language be the algorithm of a run. A machine represents the program
// in its node, and translates between lines of JSON and effects: see docs/foreign.md for the protocol. Its
// envelope, init and error codes are from Maelstrom. Package host starts the process.
package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Bridge is the machine that represents a program. It does no I/O: lines of the program come to it as
// messages Said from its own node, and the host fetches lines for the program with Take after each input.
type Bridge interface {
	nodes.Machine
	Command() string // Command returns the command that starts the program.
	Pass() string    // Pass returns the names of variables that the program gets, with commas between.
	// Take returns the lines for the program since the last call, valid until the next input, and the error
	// of the program that ends the run, if any.
	Take() (lines []byte, wrong error)
	// Asks reports whether the latest request of the client was given to Take.
	Asks() bool
	// Says returns the body of a message to a peer and, unless the kind of the message names it, its type.
	Says(m nodes.Message) (typ, body string)
	// Timers returns how many timers of the program run, and how many it has set.
	Timers() (running int, ever int64)
}

// A Breach is an error by which a program breaks the protocol, whatever it declares.
type Breach struct {
	How  uint32 // how it breaks the protocol: see history.GrantedTwice
	Line string // the line that broke it, or how the process ended
	error
}

// NewBreach returns a breach by a line, or by the end of the process.
func NewBreach(how uint32, line string, err error) *Breach { return &Breach{how, line, err} }

func (b *Breach) Unwrap() error { return b.error }

// A bridge is the common part of the machines of locks and electors.
type bridge struct {
	command string
	pass    string // see Bridge.Pass
	table   *kinds
	fenced  bool
	// detector means that the program is told of nodes that go down or come up again
	detector bool
	silent   bool // before the run neither the program nor the user has declared anything
	alone    bool // the program may not write to peers: links and their faults are not for it

	next    uint64   // msg_id of the latest line that wants an answer
	asked   uint64   // msg_id of the latest request
	since   uint64   // msg_id of the first try of the latest request
	left    uint64   // msg_id of the latest release
	leaving bool     // the program has not answered the release
	wants   bool     // the client waits, and the request is sent once the release is answered
	waiting bool     // the client waits, and the request was sent to the program
	cancels bool     // the client has cancelled the request
	leads   bool     // the node leads
	term    uint64   // of the latest line that named one
	departs bool     // the node is to leave
	away    uint64   // msg_id of leave; 0: the program was not told to leave
	inside  bool     // the client is inside
	told    bool     // the client heard that it lost the lock, and goes on
	timers  []string // ids of running timers, as JSON, by the Peer of their nodes.Timer; empty: free
	ever    int64    // how many timers the program has set
	disk    saved
	out     []byte
	wrong   error
}

// saved is the content of the disk.
type saved struct{ Keys, Values []string } // as JSON

// The kinds of timers: of the program, and for another try of a refused request.
const (
	set nodes.TimerKind = iota
	again
)

// A lock represents a program that grants a lock.
type lock struct{ bridge }

// An elector represents a program that elects leaders.
type elector struct{ bridge }

func (b *bridge) Command() string { return b.command }

func (b *bridge) Pass() string { return b.pass }

func (b *bridge) Take() ([]byte, error) {
	lines := b.out
	b.out = b.out[:0]
	return lines, b.wrong
}

func (b *bridge) Asks() bool { return !b.wants }

// fail ends the run with an error, unless it has one already.
func (b *bridge) fail(format string, args ...any) {
	if b.wrong == nil {
		b.wrong = fmt.Errorf(format, args...)
	}
}

// breach ends the run with a Breach by a line.
func (b *bridge) breach(how uint32, s *Said, format string, args ...any) {
	if b.wrong == nil {
		b.wrong = NewBreach(how, s.Raw, fmt.Errorf(format, args...))
	}
}

func (b *bridge) Says(m nodes.Message) (typ, body string) { return b.table.says(m) }

// tell sends the program a line from a partner.
func (b *bridge) tell(env *nodes.Env, by, format string, args ...any) {
	b.out = line(b.out, by, env.Self(), fmt.Sprintf(format, args...))
}

// call sends the program a line from the testbed with only a type and a msg_id, and returns the msg_id.
func (b *bridge) call(env *nodes.Env, typ string) uint64 {
	b.next++
	b.out = line(b.out, Client, env.Self(), `{"type":"`+typ+`","msg_id":`+strconv.FormatUint(b.next, 10)+`}`)
	return b.next
}

// reply answers a body that has a msg_id.
func (b *bridge) reply(env *nodes.Env, s *Said, typ, more string) {
	if len(s.Body.MsgID) > 0 {
		b.tell(env, s.Service, `{"type":"%s","in_reply_to":%s%s}`, typ, s.Body.MsgID, more)
	}
}

func (b *bridge) Start(*nodes.Env) {}

// Recover implements nodes.Recoverer: the disk survives a kill.
func (b *bridge) Recover(_ *nodes.Env, last nodes.Message) {
	if was, is := last.(saved); is {
		b.disk = saved{slices.Clone(was.Keys), slices.Clone(was.Values)}
	}
}

// Suspect implements nodes.Suspecter, and Trust nodes.Truster, for programs that have a failure detector.
func (b *bridge) Suspect(env *nodes.Env, peer nodes.ID) { b.detected(env, "down", peer) }
func (b *bridge) Trust(env *nodes.Env, peer nodes.ID)   { b.detected(env, "up", peer) }

func (b *bridge) detected(env *nodes.Env, typ string, peer nodes.ID) {
	if b.detector {
		b.tell(env, Client, `{"type":"%s","node":"%s"}`, typ, NameOf(peer))
	}
}

// Timeout implements nodes.Timed.
func (b *bridge) Timeout(env *nodes.Env, t nodes.Timer) {
	if t.Kind == again {
		switch {
		case b.away > 0:
		case b.waiting && b.cancels:
			b.giveUp(env)
		case b.waiting:
			env.Retry()
			b.asked = b.call(env, "request")
		}
		return
	}
	b.tell(env, timers, `{"type":"timer","id":%s}`, b.timers[t.Peer])
	b.timers[t.Peer] = ""
}

// Receive handles a message of a peer, or a line of the program.
func (b *lock) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	b.receive(env, from, m, b.answered)
}

func (b *elector) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	b.receive(env, from, m, b.elected)
}

func (b *bridge) receive(env *nodes.Env, from nodes.ID, m nodes.Message, client func(*nodes.Env, *Said)) {
	s, own := m.(*Said)
	switch {
	case !own:
		b.out = line(b.out, NameOf(from), env.Self(), bodyOf(m))
	case s.To == env.Self():
		b.out = line(b.out, NameOf(s.To), s.To, s.Raw)
	case s.To != nodes.None && b.alone:
		b.fail("it wrote to %s, though the client of a service declares no kinds of messages to other nodes: "+
			"declare them, as in --kinds ask,answer", s.Service)
	case s.To != nodes.None && int(s.To) < env.N():
		env.Send(s.To, b.table.message(s.Type, s.Raw))
	case s.Declares():
		b.declares(s)
	case s.Service == Client && s.Type == "init_ok":
	case s.Service == Client && b.away > 0:
		b.goes(env, s)
	case s.Service == Client:
		client(env, s)
	case s.Service == timers:
		b.time(env, s)
	case s.Service == disk:
		b.keep(env, s)
	case len(s.Body.MsgID) > 0:
		b.reply(env, s, "error", fmt.Sprintf(`,"code":%d,"text":"there is no %s"`, nodeNotFound, s.Service))
	default:
		b.fail("it wrote to %q, which does not exist: it may write to n0 to %s, %s, %s and %s", s.Service,
			NameOf(nodes.ID(env.N()-1)), Client, timers, disk)
	}
}

// declares handles a declaration during the run. It is ignored, since only one before the run counts. If
// neither the program nor the user had declared anything before the run, it is an error.
func (b *bridge) declares(s *Said) {
	d, err := ReadDeclaration(s.Raw)
	if err != nil {
		b.fail("%w", err)
		return
	}
	if b.silent && !d.silent() {
		b.fail("it declares too late: before the run it was started for a moment, and had declared nothing when " +
			"its input ended: declare in the handler of init, or right after init_ok")
	}
}

// Request implements nodes.Mutex. The request waits for the answer to the release: a program that serves each
// line in another thread might handle the request first.
func (b *lock) Request(env *nodes.Env) {
	if b.wants = b.leaving; !b.wants {
		b.ask(env)
	}
}

// ask sends the program a request.
func (b *lock) ask(env *nodes.Env) {
	b.wants, b.waiting, b.cancels = false, true, false
	b.asked = b.call(env, "request")
	b.since = b.asked
}

// Cancel implements nodes.Canceller. A refused request ends when it would have been made again.
func (b *lock) Cancel(env *nodes.Env) {
	if b.wants {
		b.giveUp(env)
		return
	}
	b.cancels = true
	b.tell(env, Client, `{"type":"cancel","in_reply_to":%d}`, b.asked)
}

// giveUp ends the request of the client.
func (b *bridge) giveUp(env *nodes.Env) {
	b.wants, b.waiting = false, false
	env.GiveUp()
}

// Leave implements nodes.Leaver. If the client is inside, the program is told when it leaves, unless it
// lingers. From then on nothing counts that the program says, but its answer.
func (b *lock) Leave(env *nodes.Env, lingers bool) {
	if b.departs = true; b.away == 0 && (!b.inside || lingers) {
		b.away = b.call(env, "leave")
	}
}

// Leave implements nodes.Leaver.
func (b *elector) Leave(env *nodes.Env, lingers bool) {
	if b.leads && !lingers {
		b.leads = false
		env.Elect(nodes.None, b.term)
	}
	if b.away == 0 {
		b.away = b.call(env, "leave")
	}
}

// goes handles a line of a program that was told to leave.
func (b *bridge) goes(env *nodes.Env, s *Said) {
	switch to := s.Body.InReplyTo; {
	case s.Type == "leave_ok":
		if b.wants || b.waiting {
			b.giveUp(env)
		}
		env.Left()
	case s.Type == "error" && to != nil && *to == b.away:
		b.fail("it says error %d to leave: %s", s.Body.Code, s.Body.Text)
	}
}

// Release implements nodes.Mutex.
func (b *lock) Release(env *nodes.Env) {
	b.inside = false
	switch {
	case b.away > 0:
		return
	case b.departs:
		b.away = b.call(env, "leave")
		return
	}
	b.leaving = true
	b.left = b.call(env, "release")
}

// released handles the answer to a release, and sends the request that waited for it. It ignores a late
// answer to an earlier release.
func (b *lock) released(env *nodes.Env, to *uint64) {
	if to != nil && *to != b.left {
		return
	}
	if b.leaving = false; b.wants {
		b.ask(env)
	}
}

// Standing implements nodes.Standing.
func (b *lock) Standing() string {
	switch {
	case b.away > 0:
		return fmt.Sprintf("its program has not answered leave %d with leave_ok", b.away)
	case b.leaving:
		return fmt.Sprintf("its program has not answered release %d with release_ok", b.left)
	case b.waiting && b.cancels:
		return fmt.Sprintf("its program has not answered request %d, which is cancelled", b.asked)
	case b.waiting:
		return fmt.Sprintf("its program has not answered request %d", b.asked)
	}
	return ""
}

// answered handles a line that the program of a lock writes to the client.
func (b *lock) answered(env *nodes.Env, s *Said) {
	switch s.Type {
	case "entered":
		b.entered(env, s)
	case "release_ok":
		b.released(env, s.Body.InReplyTo)
	case "revoked":
		b.revoked(env, s)
	case "error":
		b.refused(env, s)
	default:
		b.fail("it wrote a body of type %q to %s, which takes entered, revoked, release_ok and error", s.Type,
			Client)
	}
}

// revoked has the client leave, or hear that its lock is lost. It ignores a late line about a lock that is
// released.
func (b *lock) revoked(env *nodes.Env, s *Said) {
	switch to := s.Body.InReplyTo; {
	case !b.inside || to != nil && *to != b.asked:
		if to == nil || *to > b.next {
			b.fail("it says revoked, but its client is not inside")
		}
	case !s.Body.Stays:
		b.inside = false
		if env.Revoke(); b.departs {
			b.away = b.call(env, "leave")
		}
	case !b.told:
		b.told = true
		env.TellLost()
	}
}

// entered lets the client in.
func (b *lock) entered(env *nodes.Env, s *Said) {
	to, fence := s.Body.InReplyTo, uint64(0)
	switch {
	case b.inside:
		b.breach(history.GrantedTwice, s, "it granted twice: it says entered, but its client is inside since "+
			"request %d", b.asked)
		return
	case !b.waiting:
		b.breach(history.EnteredUnasked, s, "it entered unasked: it says entered, but no request is open")
		return
	case to == nil:
		b.fail("it says entered without in_reply_to; the open request has msg_id %d", b.asked)
		return
	case *to >= b.since && *to < b.asked:
		b.fail("it says entered in reply to %d, which it has refused", *to)
		return
	case *to != b.asked:
		b.breach(history.EnteredUnasked, s, "it entered unasked: it says entered in reply to %d, but the open "+
			"request has msg_id %d", *to, b.asked)
		return
	case b.fenced && (s.Body.Fence == nil || *s.Body.Fence == 0):
		b.fail("it promises fence numbers, which begin with 1, but says entered without a fence")
		return
	case b.fenced:
		if fence = *s.Body.Fence; fence > nodes.MostFence {
			b.fail("it says entered with the fence %d: the highest is %d", fence, uint64(nodes.MostFence))
			return
		}
	}
	b.waiting, b.inside, b.told = false, true, false
	env.GrantFenced(fence)
}

// The time until the next try of a refused request.
const (
	againSoonest = 5 * time.Millisecond
	againLatest  = 15 * time.Millisecond
)

// refused handles an error of the program of a lock.
func (b *lock) refused(env *nodes.Env, s *Said) {
	switch to := s.Body.InReplyTo; {
	case to == nil:
	case *to == b.asked && b.waiting && b.cancels && slices.Contains([]int{gaveUp, unavailable, timedOut},
		s.Body.Code):
		b.giveUp(env)
		return
	case *to == b.asked && b.waiting && (s.Body.Code == unavailable || s.Body.Code == timedOut):
		env.Refuse()
		env.SetTimer(nodes.Timer{Kind: again}, againSoonest, againLatest)
		return
	case *to == b.left && s.Body.Code == lockLost:
		b.released(env, to)
		return
	case *to < b.asked && *to != b.left:
		return
	}
	b.fail("it says error %d: %s", s.Body.Code, s.Body.Text)
}

// Campaign implements nodes.Elector.
func (b *elector) Campaign(env *nodes.Env) { b.call(env, "campaign") }

// elected handles a line that the program of an elector writes to the testbed.
func (b *elector) elected(env *nodes.Env, s *Said) {
	switch {
	case s.Type == "campaign_ok", s.Type == "error" && s.Body.Code == notSupported:
	case s.Type == "error":
		b.fail("it says error %d: %s", s.Body.Code, s.Body.Text)
	case s.Type != "elected":
		b.fail("it wrote a body of type %q to %s, which takes elected, campaign_ok and error", s.Type, Client)
	case s.Body.Leader == nil:
		b.leads, b.term = false, cmp.Or(s.Body.Term, b.term)
		env.Elect(nodes.None, b.term)
	default:
		leader := nodeOf(*s.Body.Leader)
		if leader == nodes.None || int(leader) >= env.N() {
			b.fail("it elected %q, which does not exist: nodes are n0 to %s", *s.Body.Leader,
				NameOf(nodes.ID(env.N()-1)))
			return
		}
		b.leads, b.term = leader == env.Self(), s.Body.Term
		env.Elect(leader, b.term)
	}
}

// mostTimers is how many timers a program may have running.
const mostTimers = 1 << 16

// time handles a line for the timers.
func (b *bridge) time(env *nodes.Env, s *Said) {
	id := string(s.Body.ID)
	at := slices.Index(b.timers, id)
	switch {
	case id == "":
		b.fail("it wrote to %s without an id: %q", timers, s.Raw)
	case s.Type == "cancel":
		if at >= 0 {
			b.timers[at] = ""
			env.StopTimer(nodes.Timer{Kind: set, Peer: nodes.ID(at)})
		}
		b.reply(env, s, "cancel_ok", "")
	case s.Type != "set":
		b.fail("it wrote a body of type %q to %s, which takes set, cancel, and read with a "+
			"msg_id", s.Type, timers)
	default:
		if at < 0 {
			at = slices.Index(b.timers, "")
		}
		if at < 0 {
			at, b.timers = len(b.timers), append(b.timers, "")
		}
		least, most := s.Body.MinMS, s.Body.MinMS
		if s.Body.MaxMS != nil {
			most = *s.Body.MaxMS
		}
		const day = float64(24 * time.Hour / time.Millisecond)
		if least < 0 || most < least || most > day {
			b.fail("%w: %q", errNoTime, s.Raw)
			return
		}
		if at >= mostTimers {
			b.fail("it has set more than %d timers", mostTimers)
			return
		}
		b.timers[at] = id
		b.ever++
		env.SetTimer(nodes.Timer{Kind: set, Peer: nodes.ID(at)}, milliseconds(least), milliseconds(most))
		b.reply(env, s, "set_ok", "")
	}
}

func (b *bridge) Timers() (running int, ever int64) {
	for _, id := range b.timers {
		if id != "" {
			running++
		}
	}
	return running, b.ever
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// keep handles a line for the disk.
func (b *bridge) keep(env *nodes.Env, s *Said) {
	key := string(s.Body.Key)
	at, has := slices.BinarySearch(b.disk.Keys, key)
	switch {
	case s.Type != "forget" && key == "", s.Type == "write" && len(s.Body.Value) == 0:
		b.fail("it wrote to %s without a key, or without a value to write: %q", disk, s.Raw)
	case s.Type == "read" && !has:
		b.reply(env, s, "error", fmt.Sprintf(`,"code":%d,"text":"no such key"`, keyNotFound))
	case s.Type == "read":
		b.reply(env, s, "read_ok", `,"key":`+key+`,"value":`+b.disk.Values[at])
	case s.Type == "write":
		if !has {
			b.disk.Keys = slices.Insert(b.disk.Keys, at, key)
			b.disk.Values = slices.Insert(b.disk.Values, at, "")
		}
		b.disk.Values[at] = string(s.Body.Value)
		env.Save(b.disk)
		b.reply(env, s, "write_ok", "")
	case s.Type == "forget":
		b.disk = saved{}
		env.Save(b.disk)
		b.reply(env, s, "forget_ok", "")
	default:
		b.fail("it wrote a body of type %q to %s, which takes read, write and forget", s.Type, disk)
	}
}
