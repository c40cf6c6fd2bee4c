package check

import (
	"time"

	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// restsOnMajority reports whether a leader needs a majority of the nodes to be elected.
func restsOnMajority(e *evidence) bool {
	return e.Leads.Follow == algorithm.MajorityReached || e.Live&nodes.Majority != 0
}

// majority: no node comes to lead while it can reach no majority, in a term that began since. Terms do not
// make that harmless: a node that is elected by fewer nodes than promised may also be elected in a term that
// has another leader.
func majority(e *evidence) Finding {
	if !e.Bounded {
		return notJudged("messages may take any time, so a node may be elected by votes of long ago")
	}
	judged := 0
	for i := range e.leaders.Changes {
		b := e.ledFrom(e.leaders.Changes[i])
		if b == nil || b.From > e.leaders.End || 2*e.minority.when(b.From).side(b.Node) > e.Config.N {
			continue
		}
		judged++
		since := e.minority.minoritySince(b.Node, b.From, e.leaders.Begun)
		// Votes that were given before may still have been on their way.
		until := 2*e.Delay + e.slack(since, b.From, 4)
		if time.Duration(b.From-since) <= until || !e.agreedAt(since) || b.Term > 0 && b.Term <= e.termAt(since) {
			continue
		}
		f := violated("%s came to lead at %v%s, though it had reached no majority for %v, and needs the votes "+
			"of one", name(b.Node), e.since(b.From), b.InTerm(), rounded(time.Duration(b.From-since)))
		f = f.with(e.beliefs()...).lasting(since, b.From)
		return e.outsideIf(f, span{since, b.From, int64(e.Grace), nil}, e.Safe)
	}
	if judged == 0 {
		return valid("no node came to lead without a majority that it could reach")
	}
	return notJudged("nodes came to lead without a majority, perhaps by votes that they had got before")
}

// ledFrom returns the belief of a node that came to lead at a time, or nil.
func (e *elected) ledFrom(at int64) *leadership.Belief {
	for i := range e.leaders.Beliefs {
		if b := &e.leaders.Beliefs[i]; b.From == at && b.Leads() {
			return b
		}
	}
	return nil
}

// agreedAt reports whether all followed one leader at a time: then no election was going on.
func (e *elected) agreedAt(at int64) bool {
	agreed := false
	for i := range e.leaders.Agreements {
		x := &e.leaders.Agreements[i]
		if x.Begun < at && at < x.Agreed {
			return false
		}
		agreed = agreed || x.Agreed <= at
	}
	apart := e.leaders.Apart
	return agreed && (apart == nil || apart.Begun >= at)
}

// termAt returns the highest term that a node had declared by a time.
func (e *elected) termAt(at int64) (term uint64) {
	for i := range e.leaders.Beliefs {
		if b := &e.leaders.Beliefs[i]; b.From <= at {
			term = max(term, b.Term)
		}
	}
	return term
}
