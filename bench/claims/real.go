package claims

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/english"
	"turnstile/judge/check"
	"turnstile/nodes/catalog"
)

// realLatency is that of links of processes, unless the call names another: that which simulate has.
const realLatency = "1ms"

// mostProcesses is how many nodes a claim may have as processes.
const mostProcesses = 64

// Real returns the arguments of the call that makes the same run on real processes. The error says why there
// is none.
func (c *Call) Real() (args []string, err error) {
	switch command := c.Args[0]; {
	case c.OfProcesses():
		return c.Args, nil
	case slices.Contains(c.Args, "--replay"):
		return nil, errors.New("a schedule says in which order messages arrive, and processes cannot be told")
	case command == "explore":
		return nil, errors.New("explore tries every order of events, and a run of processes is one of them")
	case command != "simulate":
		return nil, fmt.Errorf("%s makes no run of processes", command)
	}
	at := slices.Index(c.Args, "--algo")
	if at < 0 || at+1 == len(c.Args) {
		return nil, errors.New("it names no algorithm")
	}
	row, err := catalog.Find(c.Args[at+1])
	if err != nil {
		return nil, err
	}
	args = slices.Clone(c.Args)
	if n := slices.Index(args, "-n"); n >= 0 && n+1 < len(args) {
		if nodes, _ := strconv.Atoi(args[n+1]); nodes > mostProcesses {
			return nil, fmt.Errorf("%s nodes are more processes than a claim takes: at most %d",
				english.Thousands(float64(nodes)), mostProcesses)
		}
	}
	if args[0] = check.ProblemOf(row).Command; args[0] == "elect" {
		args[at] = "--scheme"
	}
	if !slices.Contains(args, "--latency") {
		args = append(args, "--latency", realLatency)
	}
	return args, nil
}

// OfProcesses reports whether a call makes a run of processes as it is: one about a service, which nothing
// simulates.
func (c *Call) OfProcesses() bool { return c.Args[0] == "bench" || c.Args[0] == "elect" }

// AsSimulated returns an error unless a run of processes came to the same verdict as the simulated one,
// and to the same published figure, if one number is published. Beside each line of the page it returns
// that of the run that begins with the same word; times and counts differ.
func (c *Call) AsSimulated(status int, printed string) (beside []string, err error) {
	lines := strings.Split(printed, "\n")
	for _, want := range c.Prints {
		word := strings.Fields(want)[0]
		at := slices.IndexFunc(lines, func(line string) bool {
			words := strings.Fields(line)
			return len(words) > 0 && (words[0] == word || verdictWord(word) && verdictWord(words[0]))
		})
		if at < 0 {
			continue
		}
		line := strings.TrimSpace(lines[at])
		beside = append(beside, line)
		if word == "published" && strings.HasSuffix(want, ": confirmed") && !matches(line, want) {
			err = fmt.Errorf("the published figure is not confirmed: %s", line)
		}
		lines = slices.Delete(lines, at, at+1)
	}
	if status != c.Status {
		err = fmt.Errorf("it ends with status %d; simulated, it ends with %d", status, c.Status)
	}
	return beside, err
}

// verdictWord reports whether a word is a verdict.
func verdictWord(word string) bool {
	return slices.Contains([]string{"VALID", "VIOLATED", "INCONCLUSIVE"}, word)
}
