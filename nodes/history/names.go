package history

import "fmt"

var breachNames = [...]string{GrantedTwice: "granted_twice", EnteredUnasked: "entered_unasked",
	EndedItself: "ended_itself"}

var kindNames = [...]string{
	Requested: "requested", Entered: "entered", Exited: "exited", Revoked: "revoked", Unissued: "unissued",
	Sent: "sent", Elected: "elected", Crashed: "crashed", Restarted: "restarted", Marked: "marked",
	Gauged: "gauged", Settled: "settled", AssumptionBroken: "assumption_broken", Paused: "paused",
	Resumed: "resumed", FaultBegan: "fault_began", FaultHealed: "fault_healed", Counted: "counted",
	Disconnected: "disconnected", Reconnected: "reconnected", Suspected: "suspected", Trusted: "trusted",
	Killed: "killed", LinkBegan: "link_began", MulticastBegan: "multicast_began",
	Campaigned: "campaigned", Observed: "observed", ClockBound: "clock_bound",
	ToldLost: "told_lost", TryRefused: "try_refused",
	Breached: "breached", ClockSet: "clock_set",
}

var markNames = [...]string{
	Began: "began", Measuring: "measuring", Stopped: "stopped", Rested: "rested", Interrupted: "interrupted",
	Stalled: "stalled",
}

var gaugeNames = [...]string{
	BusyPPM: "busy_ppm", ResidentKB: "resident_kb", ReadyUS: "ready_us", BrokerPPM: "broker_ppm",
	OwnPPM: "own_ppm", BrokerSharePPM: "broker_share_ppm", OthersPPM: "others_ppm",
	ServerBytes: "server_bytes",
}

// String names the kind of event: requested, assumption_broken.
func (k Kind) String() string { return nameOf(kindNames[:], "kind", uint32(k)) }

// CountName names the mark of an event that is Marked, as in began, the gauge, with its unit, of one that is
// Gauged, as in busy_ppm, or how a program broke the protocol of one that is Breached.
func (e *Event) CountName() string {
	switch e.Kind {
	case Gauged:
		return nameOf(gaugeNames[:], "gauge", e.Count)
	case Breached:
		return nameOf(breachNames[:], "breach", e.Count)
	}
	return nameOf(markNames[:], "mark", e.Count)
}

// nameOf returns the name of a number, or, of one that a later Turnstile may know, the number.
func nameOf(names []string, what string, number uint32) string {
	if number < uint32(len(names)) && names[number] != "" {
		return names[number]
	}
	return fmt.Sprintf("%s %d", what, number)
}
