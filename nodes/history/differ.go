package history

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Difference reads two histories beside each other and says where they first differ; nothing if they are the
// same, whatever run they are of. It also returns how many events are the same.
func (a *Reader) Difference(b *Reader) (says string, same uint64, err error) {
	if a.Nodes != b.Nodes || a.StampError != b.StampError {
		return fmt.Sprintf("one is of %d nodes with stamps that err by %d ns, the other of %d nodes and %d ns",
			a.Nodes, a.StampError, b.Nodes, b.StampError), 0, nil
	}
	for {
		var x, y Event
		moreA, err := a.Next(&x)
		if err != nil {
			return "", same, err
		}
		moreB, err := b.Next(&y)
		switch {
		case err != nil:
			return "", same, err
		case moreA && moreB && x == y:
			same++
		case moreA || moreB:
			return fmt.Sprintf("event %d is %s in one, and %s in the other", same+1, describe(&x, moreA),
				describe(&y, moreB)), same, nil
		default:
			return logsDiffer(a.Logs(), b.Logs()), same, nil
		}
	}
}

// describe prints an event, if there is one.
func describe(e *Event, there bool) string {
	if !there {
		return "missing"
	}
	words := []string{e.Kind.String()}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"instance", int64(e.Instance)}, {"entry", int64(e.Entry)}, {"value", e.Value}, {"count", int64(e.Count)},
		{"fence", int64(e.Fence)},
	} {
		if f.value != 0 {
			words = append(words, fmt.Sprintf("%s %d", f.name, f.value))
		}
	}
	return fmt.Sprintf("(node %d at %v: %s)", e.Node, time.Duration(e.At), strings.Join(words, ", "))
}

// logsDiffer says which node left something else beside its events.
func logsDiffer(a, b []*NodeLog) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d nodes left a log in one, and %d in the other", len(a), len(b))
	}
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			return fmt.Sprintf("what node %d counted differs", a[i].Node)
		}
	}
	return ""
}
