package election

import "turnstile/nodes"

// The textbooks do not say what a bully does when announcements cross, and when nodes rejoin.
//
// The announcements of two nodes may cross, as when one comes up again while the other waits for answers, and
// messages carry no epoch. So a node that follows another than the highest that it has heard of asks that one
// by ELECTION, when it hears the lower one announce itself or its detector trusts the higher one again.
//
// Textbooks leave open how the leaders of two partitions become one when these are joined. Here a leader
// sends REJOIN to each lower peer that its detector trusts again, which follows the higher of the two
// leaders that it knows of then. To a higher peer that it trusts again, a leader sends ELECTION, since that
// peer may never have suspected anybody; and a candidate begins its election again.

type (
	bullyElection struct{} // who is higher?
	bullyRejoin   struct{} // the sender leads, and trusts the receiver again
)

// askAbove asks a node that is known, and not suspected, whether it leads, if a lower one announces itself:
// its own announcement, when it came up again, may have overtaken that.
func askAbove(env *nodes.Env, announced, known nodes.ID, suspected *nodes.Set) {
	if known > announced && !suspected.Has(known) {
		env.Send(known, bullyElection{})
	}
}

// trustAgain acts on a peer that is trusted again, at a node that follows a leader or asks higher nodes. It
// reports whether that node is to begin its election again.
func trustAgain(env *nodes.Env, peer, leader nodes.ID, asks bool) (again bool) {
	switch leads := leader == env.Self(); {
	case leads && peer < env.Self():
		env.Send(peer, bullyRejoin{})
	case leads && peer > env.Self():
		env.Send(peer, bullyElection{})
	case asks && peer > env.Self(): // what it sent to that peer may be lost
		return true
	case leader != nodes.None && peer > leader: // which may lead again, and others may know
		env.Send(peer, bullyElection{})
	}
	return false
}

// rejoins takes REJOIN at a node that follows a leader, and reports whether it is to follow the sender.
func rejoins(env *nodes.Env, sender, leader nodes.ID, suspected *nodes.Set) bool {
	if leader == env.Self() { // others may follow this node: the sender is to tell them too
		env.Send(sender, bullyElection{})
		return false
	}
	return sender > leader || suspected.Has(leader)
}

// toHigher and toLower send a message to all clients that are higher or lower than this node.
func toHigher(env *nodes.Env, m nodes.Message) {
	for id := env.Self() + 1; int(id) < env.N(); id++ {
		env.Send(id, m)
	}
}

func toLower(env *nodes.Env, m nodes.Message) {
	for id := range env.Self() {
		env.Send(id, m)
	}
}
