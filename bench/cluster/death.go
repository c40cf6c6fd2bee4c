package cluster

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"turnstile/internal/english"
)

// ending returns how the process has ended.
func (p *process) ending() Fate {
	how := "exited with status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	f := Fate{Well: p.err == nil, Killed: how == killed, Dismissed: p.dismissed.Load()}
	kills := 0
	if f.Killed {
		kills = readKills() - p.kills
	}
	if why := cause(how, p.tail.String(), kills); why != "" {
		how += ", since " + why
	}
	f.Says = how + p.lastWords()
	return f
}

// killed is how a process ended that was ended by SIGKILL.
const killed = "signal: killed"

// cause says why a process ended that ended like that, after printing text, while the kernel killed so many
// processes because memory had run out.
func cause(how, text string, kills int) string {
	has := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	switch {
	case how == killed && kills > 0:
		return fmt.Sprintf("memory ran out (the kernel killed %s for it): use fewer nodes, or allow more memory",
			english.Count(kills, "process", "processes"))
	case has("failed to create new OS thread", "newosproc"):
		return "it was given no more threads: raise the limit on this user's processes (ulimit -u), " +
			"or on those of the container"
	case has("runtime: out of memory", "cannot allocate memory", "fatal error: out of memory",
		"failed to reserve page summary memory"):
		return "it was given no more memory" + spaceLimit()
	}
	return ""
}

// spaceLimit describes the limit on address space, which processes inherit, if there is one.
func spaceLimit() string {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || l.Cur>>62 != 0 {
		return ""
	}
	return fmt.Sprintf(": the limit on address space (ulimit -v) is %d KB", l.Cur/1024)
}

// readKills returns how many processes the kernel has killed because memory had run out, since it was
// booted. Those of containers count too.
func readKills() int {
	b, _ := os.ReadFile("/proc/vmstat")
	for line := range strings.Lines(string(b)) {
		if count, found := strings.CutPrefix(line, "oom_kill "); found {
			n, _ := strconv.Atoi(strings.TrimSpace(count))
			return n
		}
	}
	return 0
}
