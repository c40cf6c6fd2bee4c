package stall

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"turnstile/nodes"
)

// A Wait is an edge of the wait-for graph of a report: From waits for To, either directly (By is None) or
// because To has the permission of the node By.
type Wait struct{ From, To, By nodes.ID }

const inCircle = "They wait in a circle: "

// edges matches an edge, as wait.String writes it.
var edges = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^  (\d+) -> (\d+)(?: \(which has the permission of (\d+)\))?$`)
})

// Graph returns the wait-for graph that a report tells, the nodes of its circle, if there is one, the first
// again at the end, and what the report says of the state of each node. The error says that it is no report.
func Graph(report string) (waits []Wait, circle []nodes.ID, states []string, err error) {
	number := func(text string) nodes.ID {
		x, _ := strconv.ParseUint(text, 10, 24) // digits alone
		return nodes.ID(x)
	}
	_, told, is := strings.Cut(report, Waits)
	if !is {
		return nil, nil, nil, fmt.Errorf("this is no report of a stall: the line %q is missing",
			strings.TrimSpace(Waits))
	}
	for _, m := range edges().FindAllStringSubmatch(told, -1) {
		w := Wait{number(m[1]), number(m[2]), nodes.None}
		if m[3] != "" {
			w.By = number(m[3])
		}
		waits = append(waits, w)
	}
	if _, rest, found := strings.Cut(report, inCircle); found {
		line, _, _ := strings.Cut(rest, "\n")
		for _, id := range strings.Split(line, " -> ") {
			circle = append(circle, number(id))
		}
	}
	_, said, _ := strings.Cut(told, States)
	for line := range strings.Lines(said) {
		who, says, found := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		more := strings.HasPrefix(who, "   ") // of the state before
		if found && strings.HasPrefix(who, "  ") && !more {
			states = append(states, says)
		}
	}
	return waits, circle, states, nil
}
