package mutex

import "turnstile/nodes"

// A regeneratedToken is a privilege that is made again, under a higher epoch, when it is lost.
type regeneratedToken struct{ Epoch, Sent, Grants uint64 } // in its epoch: how often it was sent, and granted

// A regeneration is a node's part in an algorithm with one token that is made again when it is lost. When a
// node misses the token, for reasons of the algorithm, it takes a census (see census). Each node reports
// which token it had last, and what else the algorithm wants to know. The node that had the latest token, by
// epoch and how often it was sent, is given the new epoch. If it still has the token, as when it is inside
// for long, that goes on under the new epoch; otherwise it makes one. A node that has promised an epoch
// drops tokens of lower ones. It keeps its own, unused, until it is given the epoch or a later token comes.
//
// An epoch has one token: one node completes its census, and gives the epoch once, to one node. That node
// takes the epoch once, since its own token is of that epoch afterwards. Copies are dropped, as they were
// sent no more often than the last token that a node had.
//
// With a perfect failure detector only one token can be used. When an epoch is complete no live node heeds
// lower ones (census, 3), so a token of a lower epoch, here or on its way, is of no use. Nor is any node
// inside by such a token, except perhaps the node that is given the epoch: a node inside has the token, and
// only the latest holder, of the highest epoch, can be inside, since all others had sent it on. That holder
// was up, so it has answered, with a later token than all others; it sends the new one on when it leaves.
//
// With an imperfect detector, a node that stands still inside may wake up when others have another token:
// two are inside. Each grant is fenced: epoch, then the number of the grant in it. So the resource refuses
// writes under the old token as soon as a node has entered by the new one, even after wrong suspicions. And
// since a token takes a majority, only one side of a partition gets one.
type regeneration[Report interface{ last() tokenMark }] struct {
	census census[Report]
	token  regeneratedToken // as it was last here
	here   bool             // the token is here
	wants  bool             // our client waits or is inside
	inside bool             // our client is inside
	gave   nodes.ID         // the latest receiver of the token or an epoch from us
}

func newRegeneration[R interface{ last() tokenMark }](c nodes.Config) regeneration[R] {
	return regeneration[R]{census: newCensus[R](c), gave: nodes.None}
}

// A tokenMark tells which token was last at a node: its epoch, and how often it had been sent in it.
type tokenMark struct{ Epoch, Sent uint64 }

func (m tokenMark) last() tokenMark { return m }

func (m tokenMark) before(o tokenMark) bool {
	return m.Epoch < o.Epoch || m.Epoch == o.Epoch && m.Sent < o.Sent
}

func (t regeneratedToken) mark() tokenMark { return tokenMark{t.Epoch, t.Sent} }

// make makes the token of an epoch.
func (r *regeneration[R]) make(epoch uint64) {
	r.token, r.here = regeneratedToken{Epoch: epoch, Sent: 1}, true
}

// take takes a token that has come. It returns false for one that is stale or a copy.
func (r *regeneration[R]) take(env *nodes.Env, t regeneratedToken) bool {
	if t.Epoch < r.census.epoch || !r.token.mark().before(t.mark()) {
		return false
	}
	r.census.raise(env, t.Epoch)
	r.token, r.here = t, true
	return true
}

// leaves returns the token to send to a node.
func (r *regeneration[R]) leaves(to nodes.ID) regeneratedToken {
	r.here, r.gave = false, to
	return regeneratedToken{r.token.Epoch, r.token.Sent + 1, r.token.Grants}
}

// usable reports whether a token is here by which our client may enter.
func (r *regeneration[R]) usable() bool {
	return r.here && r.token.Epoch == r.census.epoch && !r.census.joining
}

// enter lets our client in by the token that is here. It returns false if the fence numbers of its epoch are
// used up.
func (r *regeneration[R]) enter(env *nodes.Env) bool {
	if r.token.Grants == mostSerial(env.N()) {
		return false
	}
	r.inside = true
	r.token.Grants++
	env.GrantFenced(fence(env.N(), r.token.Epoch, r.token.Grants))
	return true
}

// diedWith reports whether the token has died with a suspected peer, as far as we know.
func (r *regeneration[R]) diedWith(peer nodes.ID) bool { return peer == r.gave && !r.here }

// begin takes a census with our own report, unless one is open, and reports whether it is complete.
func (r *regeneration[R]) begin(env *nodes.Env, own R) (complete bool) {
	return !r.census.open && r.census.begin(env, own)
}

// give gives the epoch of our complete census to the node with the latest token, among the nodes that have
// answered and are not suspected.
func (r *regeneration[R]) give(env *nodes.Env, renewal nodes.Message) {
	r.gave = nodes.None
	for id := range r.census.answered.All() {
		if !r.census.suspected.Has(id) &&
			(r.gave == nodes.None || r.census.reports[r.gave].last().before(r.census.reports[id].last())) {
			r.gave = id
		}
	}
	env.Send(r.gave, renewal)
}

// renew puts the token under an epoch that we are given, or makes one. It returns false if the epoch is late
// or was given to us before.
func (r *regeneration[R]) renew(epoch uint64) bool {
	if epoch != r.census.epoch || r.token.Epoch >= epoch {
		return false
	}
	r.make(epoch)
	return true
}

// HasToken reports whether a token is here that is not known to be stale.
func (r *regeneration[R]) HasToken() bool { return r.usable() }
