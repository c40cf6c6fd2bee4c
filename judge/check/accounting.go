package check

import (
	"fmt"
	"slices"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// accounting: counters and events agree, and every process has left one log.
func accounting(e *records) Finding {
	if e.Lacks.Counts && len(e.sections.Irregularities) == 0 {
		return notJudged("not judged: the history has no counts")
	}
	wrong := slices.Clone(e.sections.Irregularities)
	if !e.Lacks.Counts {
		wrong = slices.Concat(e.Missing(), wrong)
	}
	for _, l := range e.perNode() {
		wrong = append(wrong, e.compareTotals(l)...)
	}
	for kind, k := range e.sum.Kinds {
		if kind >= e.kinds() && k.Sent+k.Delivered > 0 {
			wrong = append(wrong, fmt.Sprintf("there are messages of a kind %d, which does not exist", kind))
		}
	}
	if e.rested() {
		wrong = append(wrong, e.balance()...)
	}
	if len(wrong) > 0 {
		total := uint64(len(wrong)-len(e.sections.Irregularities)) + e.sections.Irregular
		return inconclusive("the counts disagree: %s", wrong[0]).with(fewOf(wrong, int(total))...)
	}
	return valid("counters and events agree")
}

// books: counters and events agree. Close has stored the finding of accounting.
func books(e *evidence) Finding { return e.books }

// balanced reports whether counts may be judged: counters, events and logs agree.
func (r *records) balanced() bool { return r.books.Outcome == Valid }

// balance describes messages that are unaccounted for: sent, but neither handled, nor dropped, nor lost with
// a death. If nodes have died, it compares process by process, by the numbers of their streams. A killed
// process may have left one broadcast half done.
func (r *records) balance() (wrong []string) {
	if len(r.sections.Deaths) > 0 && r.streamed() {
		for _, l := range r.logs {
			held, unsent, slack := r.held(l), r.unsent(l), int64(0)
			if r.died(l) {
				held, slack = min(held, 0), int64(r.hearers(l.Node))
			}
			if len(l.SentTo) > 0 && held != 0 {
				wrong = append(wrong, fmt.Sprintf("%s has handled or dropped %d messages fewer than it received",
					name(l.Node), held))
			}
			if len(l.SentTo) > 0 && (unsent < 0 || unsent > slack) {
				wrong = append(wrong, fmt.Sprintf("%s has numbered %d messages more than it counts as sent",
					name(l.Node), unsent))
			}
		}
		return wrong
	}
	var sent, delivered uint64
	for _, k := range r.sum.Kinds {
		sent += k.Sent
		delivered += k.Delivered
	}
	dropped, copied, lost := r.sum.Dropped, r.sum.Copied, r.audit.withBroker
	if sent+copied != delivered+dropped+lost {
		says := fmt.Sprintf("%d messages were sent, %d dropped and %d added by faults, and %d handled", sent,
			dropped, copied, delivered)
		if lost > 0 {
			says += fmt.Sprintf(", and %d lost with connections to the broker", lost)
		}
		wrong = append(wrong, says)
	}
	return wrong
}

// streamed reports whether the logs have streams. Then each log is of one incarnation.
func (r *records) streamed() bool {
	return slices.ContainsFunc(r.logs, func(l *history.NodeLog) bool { return len(l.SentTo) > 0 })
}

// perNode returns one log for each node: it merges the logs of its incarnations.
func (r *records) perNode() (all []*history.NodeLog) {
	for _, l := range r.logs {
		last := len(all) - 1
		if last < 0 || all[last].Node != l.Node || len(r.sections.Deaths) == 0 {
			all = append(all, l)
			continue
		}
		sum := &history.NodeLog{Node: l.Node, SentTo: l.SentTo}
		for i := range max(len(l.Instances), len(all[last].Instances)) {
			for _, part := range []*history.NodeLog{all[last], l} {
				if i < len(part.Instances) {
					sum.Instance(i).Add(&part.Instances[i])
				}
			}
		}
		all[last] = sum
	}
	return all
}

// Missing describes the processes that left no log, or more than one. The fold must be closed.
func (r *records) Missing() (wrong []string) {
	type process struct {
		id          nodes.ID
		incarnation uint32
	}
	total, streamed := r.Config.N, r.streamed()
	found := map[process]int{}
	for _, l := range r.logs {
		if len(l.SentTo) > 0 {
			total = max(total, r.ends(l))
		}
		found[process{l.Node, l.Incarnation}]++
	}
	for id := nodes.None; int(id) < total; id++ {
		latest := uint32(0)
		if streamed {
			latest = r.sections.Incarnation(id)
		}
		for life := range latest + 1 {
			label := name(id)
			if id == nodes.None {
				label = "the orchestrator"
			}
			if latest > 0 {
				label += fmt.Sprintf(", up for time %d,", life+1)
			}
			switch count := found[process{id, life}]; count {
			case 0:
				wrong = append(wrong, label+" left no log")
			case 1:
			default:
				wrong = append(wrong, fmt.Sprintf("%s left %d logs", label, count))
			}
		}
	}
	return wrong
}

// deaths returns how often the node of a log has died, if each process left a log. At each death one event
// may have been counted but not recorded, or recorded but not counted.
func (r *records) deaths(l *history.NodeLog) (count uint64) {
	if len(l.SentTo) == 0 {
		return 0
	}
	for i := range r.sections.Deaths {
		if r.sections.Deaths[i].Node == l.Node {
			count++
		}
	}
	return count
}

// compareTotals describes where the counters of a node differ from its events.
func (r *records) compareTotals(l *history.NodeLog) (wrong []string) {
	deaths := r.deaths(l)
	// The events may exceed the counter by at most ahead, and fall short of it by at most behind.
	compare := func(what string, events, counter, ahead, behind uint64) {
		if events > counter+ahead || counter > events+behind {
			wrong = append(wrong, fmt.Sprintf("%s: %s by its events, and %d by its counter",
				name(l.Node), english.Count(events, what, what), counter))
		}
	}
	for i := range max(len(r.sections.Resources), len(l.Instances), len(r.recorded)) {
		counted := at(l.Instances, i)
		var c section.Client
		if of := at(r.sections.Resources, i); of != nil {
			c = at(of.Clients, int(l.Node))
		}
		compare("requested", uint64(c.Asked), counted.Requests, 0, deaths)
		compare("entered", uint64(c.Entered), counted.Entries, deaths, 0)
		compare("exited", uint64(c.Left), counted.Exits, deaths, 0)
		if int(l.Node) >= r.Config.N && c.Asked+c.Entered > 0 {
			wrong = append(wrong, fmt.Sprintf("%s is a server, and has asked or entered", name(l.Node)))
		}
		if !r.Circulates || i > 0 && at(r.recorded, i) == nil { // only circulating instances record messages
			continue
		}
		sent := at(at(r.recorded, i), int(l.Node))
		for kind := range max(len(sent), len(counted.Kinds)) {
			compare("sent of "+r.kind(kind), at(sent, kind), at(counted.Kinds, kind).Sent, 0,
				deaths*uint64(r.hearers(l.Node)))
		}
	}
	return wrong
}

// at returns an element of s, or the zero value out of range.
func at[T any](s []T, i int) (element T) {
	if i >= 0 && i < len(s) {
		element = s[i]
	}
	return element
}
