package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// machinesOf returns the machines of an algorithm, clients and servers, for each value of each option.
func machinesOf(a *algorithm.Algorithm) (all []nodes.Machine) {
	configs := []nodes.Config{{N: 4}}
	for _, o := range a.Options {
		for _, value := range o.Values {
			configs = append(configs, nodes.Config{N: 4}.With(o.Name, value))
		}
	}
	for _, c := range configs {
		if a.Validate(c) != nil {
			continue
		}
		c = a.Explicit(c)
		for id := range nodes.ID(c.N + a.ServerCount(c)) {
			all = append(all, a.Machine(c, id))
		}
	}
	return all
}

// Each machine of each algorithm is found by the name of its type, with its methods at their lines.
func TestEachMachineIsFound(t *testing.T) {
	sources, err := ReadSources("../..", "./algorithms/...")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range slices.Concat(catalog.Table{}.Algorithms(), catalog.Table{}.Detectors()) {
		var lacking []string
		for _, k := range a.Messages {
			lacking = append(lacking, reflect.TypeOf(k.Zero).Name())
		}
		for _, machine := range machinesOf(a) {
			of := reflect.TypeOf(machine)
			name := strings.TrimPrefix(fmt.Sprintf("%T", machine), "*")
			m := sources.Machines[name]
			if m == nil {
				t.Fatalf("%s: %s is not found", a.Name, name)
			}
			if first := line(t, sources, m.File, m.Doc[0]); !strings.HasPrefix(first, "//") {
				t.Errorf("%s: its comment is to begin at line %d of %s: %q", name, m.Doc[0], m.File, first)
			}
			for _, method := range handlers {
				if _, has := of.MethodByName(method); has != (m.Handlers[method] != nil) {
					t.Errorf("%s: it has the method %s: %v; found: %v", name, method, has, m.Handlers[method])
				}
			}
			checkLines(t, sources, m)
			receive := m.Handlers["Receive"]
			lacking = slices.DeleteFunc(lacking, func(kind string) bool {
				_, found := receive.Cases[kind]
				return found || len(receive.Cases) == 0
			})
		}
		for _, kind := range lacking {
			if !slices.Contains(unreceived, kind) && a.Name != "central-inside" { // it lists what central has
				t.Errorf("%s: no case is found for %v", a.Name, kind)
			}
		}
	}
}

// unreceived are the kinds of messages that machines save, and do not send.
var unreceived = []string{"arbiterVote", "censusPromise", "inviteSaved", "leaseNumber", "leases",
	"majoritySaved", "raftState", "ricartClock"}

// checkLines checks that each handler of a machine, and each of its cases, is at its lines.
func checkLines(t *testing.T, sources Sources, m *Machine) {
	t.Helper()
	for method, h := range m.Handlers {
		if first := line(t, sources, h.File, h.From); !strings.HasPrefix(first, "func (") ||
			!strings.Contains(first, ") "+method+"(") {
			t.Errorf("%s:%d is to be %s: %q", h.File, h.From, method, first)
		}
		if last := line(t, sources, h.File, h.To); !strings.HasSuffix(last, "}") {
			t.Errorf("%s:%d is to be the end of %s: %q", h.File, h.To, method, last)
		}
		for name, p := range h.Cases {
			if p.From < h.From && m.File == p.File || p.To < p.From {
				t.Errorf("%s: %s is at %v, outside %s", h.File, name, p, method)
			}
			checkCase(t, sources, name, p)
		}
	}
}

// checkCase checks that a case is at its lines.
func checkCase(t *testing.T, sources Sources, name string, p Place) {
	t.Helper()
	first := strings.TrimSpace(line(t, sources, p.File, p.From))
	if !strings.HasPrefix(first, "case ") && !strings.HasPrefix(first, "if ") &&
		!strings.Contains(first, " := ") {
		t.Errorf("%s:%d is to be the case %s: %q", p.File, p.From, name, first)
	}
	name, _, _ = strings.Cut(name, "[")
	generic := p.File == "algorithms/mutex/one_server.go"
	if !generic && strings.Trim(name, "0123456789") != "" && !strings.Contains(first, name) {
		t.Errorf("%s:%d is to be about %s: %q", p.File, p.From, name, first)
	}
}

// line returns a line of a file.
func line(t *testing.T, sources Sources, path string, number int) string {
	t.Helper()
	lines := strings.Split(sources.Files[path], "\n")
	if number < 1 || number > len(lines) {
		t.Fatalf("%s has no line %d", path, number)
	}
	return lines[number-1]
}

// Timers are known by the names and by the numbers of their kinds, cases of embedded types by their files.
func TestMarksOfSomeMachines(t *testing.T) {
	sources, err := ReadSources("../..", "./algorithms/...")
	if err != nil {
		t.Fatal(err)
	}
	timeout := sources.Machines["mutex.backoff"].Handlers["Timeout"]
	if got := slices.Sorted(maps.Keys(timeout.Cases)); !slices.Equal(got, []string{"1", "2", "missingAnswer",
		"nextAttempt"}) || timeout.Cases["2"] != timeout.Cases["missingAnswer"] {
		t.Errorf("the timers of backoff: %v", timeout.Cases)
	}
	request := sources.Machines["mutex.raymondK"].Handlers["Receive"].Cases["ricartRequest"]
	if request.File != "algorithms/mutex/ricart_agrawala.go" {
		t.Errorf("raymondK receives a request in %+v", request)
	}
	if sources.Machines["mutex.ricartRetrying"].Handlers["Release"].File != request.File {
		t.Error("the method Release of ricartRetrying is that of ricartAgrawala")
	}
}
