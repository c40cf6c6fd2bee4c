package cluster

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// AddChildren adds what the processes have used that those of a run have started themselves, as /proc knows
// it: in units of 10 ms. Children that have ended count once their parent has waited for them.
func (u *Usage) AddChildren(brokers, nodes []Process) {
	all := readProcesses()
	add := func(of []Process, to *time.Duration) {
		for _, p := range of {
			if has, is := p.(interface{ Pid() int }); is && has.Pid() != 0 {
				*to += all.beneath(has.Pid())
			}
		}
	}
	add(brokers, &u.broker)
	add(nodes, &u.own)
}

// processes are the children of each process, and what each has used.
type processes struct {
	children map[int][]int
	used     map[int]time.Duration // by itself
	waited   map[int]time.Duration // by children that have ended
}

// clockTick is the unit of times in /proc.
const clockTick = 10 * time.Millisecond

// readProcesses reads /proc. It is empty where there is none.
func readProcesses() *processes {
	p := &processes{map[int][]int{}, map[int]time.Duration{}, map[int]time.Duration{}}
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + name.Name() + "/stat")
		if err == nil {
			p.add(pid, string(text))
		}
	}
	return p
}

// add reads a line of /proc/PID/stat. The name of the program comes second, in parentheses, and may hold any
// character.
func (p *processes) add(pid int, stat string) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return
	}
	number := func(i int) time.Duration {
		n, _ := strconv.Atoi(fields[i])
		return time.Duration(n)
	}
	parent := int(number(1))
	p.children[parent] = append(p.children[parent], pid)
	p.used[pid] = (number(11) + number(12)) * clockTick
	p.waited[pid] = (number(13) + number(14)) * clockTick
}

// beneath returns what the descendants of a process have used.
func (p *processes) beneath(pid int) time.Duration {
	sum := p.waited[pid]
	for _, child := range p.children[pid] {
		sum += p.used[child] + p.beneath(child)
	}
	return sum
}
