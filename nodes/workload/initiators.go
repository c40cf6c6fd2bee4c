package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Initiators says which nodes campaign when a run begins: all, none, lowest, highest, random:K for K nodes
// drawn by the seed, or their numbers, as in 0,3. Empty means all.
type Initiators string

// The initiators that have names.
const (
	AllInitiate     Initiators = "all"
	NoneInitiates   Initiators = "none"
	LowestInitiates Initiators = "lowest"
	HighestInitiate Initiators = "highest"
)

// TheseInitiate returns the given nodes as initiators.
func TheseInitiate(all ...nodes.ID) Initiators {
	var words []string
	for _, id := range all {
		words = append(words, strconv.Itoa(int(id)))
	}
	return Initiators(strings.Join(words, ","))
}

// CampaignAfter is the time from the beginning of the run to the first campaigns; faults at the beginning
// come before it.
const CampaignAfter = 5 * time.Millisecond

// NextCampaign returns the time of the first campaign of the initiators after a given time, in nanoseconds
// since the run began, or Never. A negative time is before the run.
func (w *Workload) NextCampaign(after int64) int64 {
	const first = int64(CampaignAfter)
	switch every := int64(w.CampaignEvery); {
	case after < first:
		return first
	case every == 0:
		return Never
	default:
		count := (after-first)/every + 1
		if count >= int64(w.Campaigns) {
			return Never
		}
		return first + count*every
	}
}

// Check returns an error if the initiators do not suit a cluster of n nodes.
func (i Initiators) Check(n int) error {
	_, err := i.Of(0, n)
	return err
}

// Of returns the initiators in a cluster of n nodes, in the order of their numbers.
func (i Initiators) Of(d chance.Dice, n int) (all []nodes.ID, err error) {
	switch i {
	case "", AllInitiate:
		for id := range nodes.ID(n) {
			all = append(all, id)
		}
		return all, nil
	case NoneInitiates:
		return nil, nil
	case LowestInitiates:
		return []nodes.ID{0}, nil
	case HighestInitiate:
		return []nodes.ID{nodes.ID(n - 1)}, nil
	}
	if count, random := strings.CutPrefix(string(i), "random:"); random {
		k, err := strconv.Atoi(count)
		if err != nil || k < 1 || k > n {
			return nil, fmt.Errorf("initiators: %q asks for %q of %d nodes: write a number from 1 to %d, such as "+
				"random:1", string(i), count, n, n)
		}
		return drawn(d, n, k), nil
	}
	for word := range strings.SplitSeq(string(i), ",") {
		id, err := strconv.Atoi(strings.TrimSpace(word))
		switch {
		case err != nil:
			return nil, fmt.Errorf("initiators: %q is neither all, none, lowest, highest, random:K nor a list of "+
				"nodes, such as 0,3", word)
		case id < 0 || id >= n:
			return nil, fmt.Errorf("initiators: there is no node %d: they are numbered from 0 to %d", id, n-1)
		case slices.Contains(all, nodes.ID(id)):
			return nil, fmt.Errorf("initiators: node %d is named twice", id)
		}
		all = append(all, nodes.ID(id))
	}
	slices.Sort(all)
	return all, nil
}

// drawn returns k of n nodes, drawn at random.
func drawn(d chance.Dice, n, k int) (all []nodes.ID) {
	for id := range nodes.ID(n) {
		all = append(all, id)
	}
	for at := range k { // only the first k steps of a shuffle
		with := at + d.Below(chance.Roll{Purpose: chance.ForNode, Count: uint64(at) + 1}, n-at)
		all[at], all[with] = all[with], all[at]
	}
	all = all[:k]
	slices.Sort(all)
	return all
}

// Initiates reports whether a node of a cluster of n nodes campaigns when the run begins.
func (w *Workload) Initiates(d chance.Dice, id nodes.ID, n int) bool {
	if w.Load != Campaign {
		return false
	}
	all, _ := w.Initiators.Of(d, n) // the initiators have been checked
	return slices.Contains(all, id)
}
