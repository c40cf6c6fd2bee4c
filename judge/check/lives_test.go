package check

import (
	"fmt"
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// about adds an event of the orchestrator about a node.
func (w *world) about(id nodes.ID, e history.Event) {
	w.add(nodes.None, e)
	l := w.log(nodes.None)
	l.Events[len(l.Events)-1].Node = id
}

// kill records the order to end the process of a node, and crashed records that the process has ended.
func (w *world) kill(id nodes.ID) {
	w.broke(nodes.NoCrash)
	w.about(id, history.Event{Kind: history.Killed})
}

func (w *world) crashed(id nodes.ID) {
	w.isDown[id] = true
	w.about(id, history.Event{Kind: history.Crashed})
}

// restart has the next process of a node come up.
func (w *world) restart(id nodes.ID) {
	last, n := w.log(id), len(w.isDown)
	w.past[id] += w.totals(id).Requests
	w.isDown[id] = false
	w.Logs = append(w.Logs, &log{NodeLog: &history.NodeLog{Node: id, Incarnation: last.Incarnation + 1,
		StampError: stampError, SentTo: make([]uint64, n), ReceivedFrom: make([]uint64, n),
		MultiFrom: make([]uint64, n)}})
	w.about(id, history.Event{Kind: history.Restarted, Count: last.Incarnation + 1})
}

// begins reports whether the next message on a link begins a stream other than the first stream of the link.
func (w *world) begins(from, to nodes.ID) bool {
	f, t := w.log(from), w.log(to)
	heard, life := false, uint32(0)
	for _, e := range t.Events {
		if e.Kind == history.LinkBegan && e.Count == uint32(from) {
			heard, life = true, e.Entry
		}
	}
	return life != f.Incarnation || t.Incarnation > 0 && !heard
}

// fallen returns a run of three nodes. After do, node 2 is killed; it restarts, has a turn, and is killed
// again for good.
func fallen(do func(w *world)) *world {
	w := newWorld(3)
	w.round()
	w.mark(history.Measuring)
	w.turn(2)
	do(w)
	w.kill(2)
	w.crashed(2)
	w.turnOf(0, 1)
	w.restart(2)
	w.round()
	w.kill(2)
	w.crashed(2)
	w.turnOf(1, 0)
	w.end()
	return w
}

// turnOf has a node have a turn while node 2 is down: it asks all others, and needs only the reply of peer.
func (w *world) turnOf(id, peer nodes.ID) {
	w.ask(id)
	w.send(id, 2, kindRequest)
	w.send(id, peer, kindRequest)
	w.send(peer, id, kindReply)
	w.enter(id)
	w.exit(id)
}

func TestDeathsAreExplained(t *testing.T) {
	for name, do := range map[string]func(w *world){
		"idle":    func(*world) {},
		"waiting": func(w *world) { w.ask(2); w.send(2, 0, kindRequest) },
		"inside": func(w *world) {
			w.ask(2)
			w.enter(2)
			w.inside-- // the orchestrator takes it out of the register
		},
		"with messages on their way from it": func(w *world) {
			w.totals(2).Kind(kindRequest).Sent += 3
			w.log(2).SentTo[0] += 3
		},
		"with messages on their way to it": func(w *world) {
			w.totals(1).Kind(kindRequest).Sent += 3
			w.log(1).SentTo[2] += 3
		},
		"with messages that it held": func(w *world) {
			w.send(1, 2, kindRequest)
			w.totals(2).Kind(kindRequest).Delivered--
		},
		"while it asks": func(w *world) { w.totals(2).Requests++ },
		"before it counts an entry": func(w *world) {
			w.ask(2)
			w.enter(2)
			w.totals(2).Entries--
			w.inside--
		},
		"before it counts an exit":    func(w *world) { w.turn(2); w.totals(2).Exits-- },
		"before it counts a message":  func(w *world) { w.log(2).SentTo[0]++ },
		"after it has written":        func(w *world) { w.ask(2); w.enter(2); w.inside--; w.account++ },
		"with a message that strayed": func(w *world) { w.send(2, 0, kindRequest); w.strays() },
	} {
		t.Run(name, func(t *testing.T) {
			w := fallen(do)
			v := w.judge()
			if v.Outcome != Valid || v.LostUnintended != 0 {
				t.Errorf("%v: %s; %d lost", v.Outcome, v.Reason, v.LostUnintended)
			}
			more := uint64(0)
			if strings.Contains(name, "messages") {
				more = 3
			}
			if strings.Contains(name, "held") || strings.Contains(name, "counts a message") {
				more = 1
			}
			if v.LostToDeaths != 2+more {
				t.Errorf("%d messages were lost to deaths, not %d", v.LostToDeaths, 2+more)
			}
		})
	}
}

// If a process comes up while its receiver is down, its messages to that receiver do not count as lost.
func TestMessagesToNodesThatAreDown(t *testing.T) {
	for _, downFirst := range []bool{true, false} {
		w := newWorld(3)
		w.round()
		w.mark(history.Measuring)
		w.turn(1)
		for _, id := range []nodes.ID{2, 0} {
			w.kill(id)
			w.crashed(id)
		}
		if downFirst {
			w.restart(0)
			w.send(0, 2, kindRequest)
			w.restart(2)
		} else {
			w.restart(2)
			w.restart(0)
			w.totals(0).Kind(kindRequest).Sent++
			w.log(0).SentTo[2]++
		}
		w.end()
		v := w.judge()
		if lost := v.LostUnintended > 0; lost == downFirst {
			t.Errorf("the receiver comes up last: %v; %d messages are missed", downFirst, v.LostUnintended)
		}
	}
}

// strays makes the latest message from node 2 to node 0 arrive after the next incarnation's first message.
func (w *world) strays() {
	l := w.log(0)
	l.ReceivedFrom[2]--
	l.Totals.Strays++
}

// Each of these breaks the books of a run with deaths, in a way that no death explains.
func TestDeathsExplainNothingElse(t *testing.T) {
	for _, test := range []struct {
		name, check, says string
		do                func(w *world) // before the first death
		after             func(w *world) // at the end
	}{
		{"a message between the living is lost", "loss", "link 0 -> 1", nil, func(w *world) {
			w.totals(0).Kind(kindRequest).Sent++
			w.log(0).SentTo[1]++
		}},
		{"the first message of an incarnation is lost", "loss", "1 missing before number 2", nil, func(w *world) {
			w.eventsOf(history.LinkBegan, func(e *history.Event) {
				if e.Node == 1 && e.Count == 2 && e.Entry == 1 {
					e.Value = 2
				}
			})
		}},
		{"a message to the next incarnation is lost", "loss", "missing", nil, func(w *world) {
			w.Logs[len(w.Logs)-1].Totals.Gaps++
		}},
		{"more is counted than was sent", "accounting", "has numbered", nil, func(w *world) {
			w.totals(0).Kind(kindRequest).Sent++
		}},
		{"the dead count more than they sent", "accounting", "has numbered", func(w *world) {
			w.totals(2).Kind(kindRequest).Sent++
		}, nil},
		{"somebody handles less than it took in", "accounting", "fewer than it received", nil, func(w *world) {
			w.totals(0).Kind(kindRequest).Delivered--
		}},
		{"the dead handle more than they took in", "accounting", "fewer than it received", func(w *world) {
			w.totals(2).Kind(kindRequest).Delivered++
		}, nil},
		{"requests are not on record", "accounting", "requested", func(w *world) {
			w.totals(2).Requests += 3
		}, nil},
		{"an entry is not on record", "accounting", "entered", func(w *world) { w.totals(2).Entries++ }, nil},
		{"exits are not counted", "accounting", "exited", func(w *world) { w.totals(2).Exits -= 3 }, nil},
		{"a log is missing", "accounting", "node 2, up for time 1, left no log", nil, func(w *world) {
			w.Logs = append(w.Logs[:3], w.Logs[4:]...)
		}},
		{"there are two logs of one process", "accounting", "node 2, up for time 2, left 2 logs", nil,
			func(w *world) { w.Logs = append(w.Logs, &log{NodeLog: w.log(2).NodeLog}) }},
		{"the dead ask", "accounting", "though it is down", nil, func(w *world) {
			w.ask(2)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			do := test.do
			if do == nil {
				do = func(*world) {}
			}
			w := fallen(do)
			if test.after != nil {
				test.after(w)
			}
			f := finding(t, w.judge(), test.check)
			if f.Outcome != Inconclusive || !strings.Contains(f.Says+fmt.Sprint(f.Witness), test.says) {
				t.Errorf("%v: %s %q", f.Outcome, f.Says, f.Witness)
			}
		})
	}
}

// A moment is what happens around a death, and what the register and the whole run show then.
type moment struct {
	name              string
	do                func(w *world)
	register, verdict Outcome
}

// waitsForTheDead has node 2 inside and node 0 waiting.
func (w *world) waitsForTheDead() {
	w.ask(2)
	w.enter(2)
	w.ask(0)
}

// Events between the order to end a process and its end are in doubt; later events are not.
func TestTheMomentOfADeathIsDoubtful(t *testing.T) {
	judgeMoments(t, []moment{
		{"another enters before", func(w *world) {
			w.waitsForTheDead()
			w.enter(0)
			w.kill(2)
			w.crashed(2)
		}, Violated, Violated},
		{"another enters in between", func(w *world) {
			w.waitsForTheDead()
			w.kill(2)
			w.enter(0)
			w.crashed(2)
			w.inside--
			w.exit(0)
		}, Valid, Valid},
		{"another has its turn in between", func(w *world) {
			w.waitsForTheDead()
			w.kill(2)
			w.enter(0)
			w.exit(0)
			w.crashed(2)
			w.inside--
		}, Valid, Valid},
		{"another reads the register in between", func(w *world) {
			w.waitsForTheDead()
			w.kill(2)
			w.crashed(2)
			w.enter(0)
			w.inside--
			w.exit(0)
		}, Valid, Valid},
		{"the register keeps it", func(w *world) {
			w.waitsForTheDead()
			w.kill(2)
			w.crashed(2)
			w.enter(0)
			w.exit(0)
			w.ask(0)
			w.enter(0)
			w.exit(0)
		}, Violated, Violated},
		{"two others enter in between", func(w *world) {
			w.waitsForTheDead()
			w.kill(2)
			w.enter(0)
			w.ask(1)
			w.enter(1)
			w.exit(0)
			w.exit(1)
			w.crashed(2)
			w.inside--
		}, Violated, Violated},
		{"it enters and leaves in between", func(w *world) {
			w.ask(2)
			w.kill(2)
			w.enter(2)
			w.exit(2)
			w.ask(2)
			w.crashed(2)
		}, Valid, Valid},
	})
}

// Two clients are inside together for less than the error of the stamps, so the intervals do not prove it. A
// third client, which has written the account, dies meanwhile. The register and the account still show that
// two were inside: these checks must not skip sections because of the death.
func TestADeathHidesNobody(t *testing.T) {
	w := newWorld(3)
	w.round()
	w.mark(history.Measuring)
	w.round()
	w.waitsForTheDead()
	w.ask(1)
	w.kill(2)
	w.account++ // by node 2
	w.enter(0)
	w.enter(1)
	w.exit(0)
	w.exit(1)
	w.crashed(2)
	w.inside--
	w.end()
	for _, l := range w.Logs {
		l.StampError = 3000
	}
	v := w.judge()
	for by, want := range map[string]Outcome{"exclusion": Inconclusive, "register": Violated,
		"account": Violated} {
		if f := finding(t, v, by); f.Outcome != want {
			t.Errorf("%s is %v: %s", by, f.Outcome, f.Says)
		}
	}
	if v.Outcome != Violated {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
}

// If the register may count a dead node, one unit too many proves neither a violation nor its absence.
func TestARegisterInDoubt(t *testing.T) {
	judgeMoments(t, []moment{
		{"the register is in doubt, and nobody sees it", func(w *world) { w.ask(2); w.doubt(2) }, Valid, Valid},
		{"the register is in doubt, and counts it", func(w *world) {
			w.ask(2)
			w.inside++
			w.doubt(2)
			w.turnOf(0, 1)
		}, Inconclusive, Inconclusive},
		{"the register is in doubt, and two are inside", func(w *world) {
			w.ask(2)
			w.inside++
			w.doubt(2)
			w.together()
		}, Violated, Violated},
		{"the register is in doubt, and two are inside by their stamps", func(w *world) {
			w.ask(2)
			w.doubt(2)
			w.together()
		}, Inconclusive, Violated},
	})
}

func judgeMoments(t *testing.T, moments []moment) {
	t.Helper()
	for _, test := range moments {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(3)
			w.round()
			w.mark(history.Measuring)
			w.round()
			test.do(w)
			w.end()
			v := w.judge()
			if f := finding(t, v, "register"); f.Outcome != test.register {
				t.Errorf("the register: %v: %s", f.Outcome, f.Says)
			}
			if v.Outcome != test.verdict {
				t.Errorf("%v: %s", v.Outcome, v.Reason)
			}
		})
	}
}

// doubt has a node die while it changes the register.
func (w *world) doubt(id nodes.ID) {
	w.kill(id)
	w.isDown[id] = true
	w.about(id, history.Event{Kind: history.Crashed, Count: 1})
}

// An update that a dead client may have written does not count as lost, and hides no lost update of others.
func TestTheAccountOfTheDead(t *testing.T) {
	for written := range int64(2) {
		for lost := range uint64(2) {
			w := fallen(func(w *world) {
				w.ask(2)
				w.enter(2)
				w.inside--
				w.account += written
			})
			if lost > 0 {
				w.log(1).Events = lower(w.log(1).Events)
			}
			if got := w.judge().LostUpdates; got != lost {
				t.Errorf("it has written %d, and %d updates were lost: %d are found", written, lost, got)
			}
		}
	}
}

// lower has the last entry and exit of a log read and write one less.
func lower(events []history.Event) []history.Event {
	for i := len(events) - 2; i < len(events); i++ {
		events[i].Value--
	}
	return events
}

// When a run is interrupted, its processes end one after another: the service frees the lock of a client that
// ends inside, and lets in the next. That is no violation.
func TestNothingAfterAnInterruptionIsAViolation(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := measuring()
		w.ask(0)
		w.ask(1)
		w.permission(0)
		w.permission(1)
		w.enter(0)
		if late {
			w.mark(history.Interrupted)
		}
		w.enter(1)
		if w.exit(1); !late {
			w.mark(history.Interrupted)
		}
		v := w.judge()
		if got := finding(t, v, "exclusion").Outcome; (got == Violated) == late {
			t.Errorf("late %v: exclusion is %v", late, got)
		}
		if f := finding(t, v, "accounting"); f.Outcome != Valid {
			t.Errorf("late %v: %v: %s", late, f.Outcome, f.Says)
		}
		if late && v.Outcome != Inconclusive {
			t.Errorf("the verdict is %v: %s", v.Outcome, v.Reason)
		}
	}
}
