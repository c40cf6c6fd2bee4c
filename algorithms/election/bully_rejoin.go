package election

import "turnstile/nodes"

// The textbooks do not say what a bully does when announcements cross or when nodes rejoin.
//
// Announcements may cross, as when one node comes up again while another waits for answers, and messages
// carry no epoch. So if a lower node announces itself, a node sends ELECTION to the higher leader that it
// followed. It also sends ELECTION to a node above its leader that its detector trusts again.
//
// Textbooks leave open how the leaders of two partitions become one when the partitions heal. Here a leader
// sends REJOIN to each lower peer that its detector trusts again. The receiver follows the higher of the two
// leaders that it knows of then. To a higher peer that it trusts again, a leader sends ELECTION, since that
// peer may never have suspected anybody. A candidate that trusts a higher peer again begins anew.

type (
	bullyElection struct{} // asks whether the receiver, a higher node, is up
	bullyRejoin   struct{} // the sender leads, and trusts the receiver again
)

// askAbove is called when a node announces itself. It asks a known leader that is higher and not suspected:
// that leader's own announcement, when it came up again, may have overtaken this one.
func askAbove(env *nodes.Env, announced, known nodes.ID, suspected *nodes.Set) {
	if known > announced && !suspected.Has(known) {
		env.Send(known, bullyElection{})
	}
}

// trustAgain acts on a peer that is trusted again. leader is the node that this node follows; asks says that
// this node waits for answers of higher nodes. trustAgain reports whether this node is to begin its election
// again.
func trustAgain(env *nodes.Env, peer, leader nodes.ID, asks bool) (again bool) {
	switch leads := leader == env.Self(); {
	case leads && peer < env.Self():
		env.Send(peer, bullyRejoin{})
	case leads && peer > env.Self():
		env.Send(peer, bullyElection{})
	case asks && peer > env.Self(): // what this node sent to that peer may be lost
		return true
	case leader != nodes.None && peer > leader: // perhaps the peer leads again, and others follow it
		env.Send(peer, bullyElection{})
	}
	return false
}

// rejoins takes REJOIN at a node that follows leader, and reports whether it is to follow the sender.
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
