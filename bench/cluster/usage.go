package cluster

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/cgroup"
	"turnstile/internal/proc"
)

// A Usage is how much of the processors has been used up to some time: by the processes of a run, and by all
// of the machine.
type Usage struct {
	at     time.Time
	all    ticks         // of the processors that this process may run on
	own    time.Duration // by this process and the nodes
	broker time.Duration // by the processes that carry the messages
	known  bool          // own and broker
	cpus   int           // of other machines whose ticks are in all
}

// Add adds what the processors of another machine have spent.
func (u *Usage) Add(busy, all uint64, cpus int) {
	u.all.busy += busy
	u.all.all += all
	u.cpus += cpus
}

// ReadUsage reads what has been used. The brokers are all processes that carry or carried the run's messages;
// none if they are not its own.
func ReadUsage(brokers, nodes []Process) Usage {
	u := Usage{at: time.Now(), all: readTicks()}
	u.own, u.known = proc.CPUTime(os.Getpid())
	add := func(p Process, to *time.Duration) {
		spent, ok := p.CPUTime()
		*to += spent
		u.known = u.known && ok
	}
	for _, p := range brokers {
		add(p, &u.broker)
	}
	for _, p := range nodes {
		add(p, &u.own)
	}
	return u
}

// Shares are what was used of the processors in some time: parts of what the run could use at most, which is
// the processors that it may run on, or the quota of its control groups if that is less.
type Shares struct {
	Own    float64 // by the nodes and the orchestrator
	Broker float64 // by the run's own brokers and proxies
	Others float64 // by all others, of the processors that the run may run on, whatever its quota
	Busy   float64 // of those processors or of the quota, whichever was the busier
	// BrokerCPU is the share of one processor that these used.
	BrokerCPU float64
	// AllKnown and OwnKnown report what could be measured: Busy, and all the rest.
	AllKnown, OwnKnown bool
}

// Between says that the reading began at a time, and so is one of the time half-way since then.
func (u *Usage) Between(began time.Time) { u.at = began.Add(u.at.Sub(began) / 2) }

// Since returns what was used since an earlier reading.
func (u Usage) Since(earlier Usage) Shares {
	if u.cpus > 0 {
		return u.since(earlier, runtime.NumCPU()+u.cpus, 0)
	}
	return u.since(earlier, runtime.NumCPU(), cgroup.Read(os.DirFS("/")).CPUs)
}

// mostShare is more than processes can use of what there is, but for errors of reading.
const mostShare = 1.1

// since is Since on so many processors, of whose time the quota is what the run may use; 0: there is none.
func (u Usage) since(earlier Usage, cpus int, quota float64) Shares {
	var s Shares
	took := u.at.Sub(earlier.at)
	if took <= 0 {
		return s
	}
	n := float64(cpus)
	limit := n
	if quota > 0 {
		limit = min(n, quota)
	}
	if s.OwnKnown = u.known && earlier.known; s.OwnKnown {
		s.BrokerCPU = (u.broker - earlier.broker).Seconds() / took.Seconds()
		s.Broker = s.BrokerCPU / limit
		s.Own = (u.own - earlier.own).Seconds() / took.Seconds() / limit
		if s.Own+s.Broker > mostShare { // the readings took too long for so short a time
			s.OwnKnown, s.Own, s.Broker, s.BrokerCPU = false, 0, 0, 0
		}
	}
	if s.AllKnown = u.all.all > earlier.all.all; s.AllKnown {
		busy := float64(u.all.busy-earlier.all.busy) / float64(u.all.all-earlier.all.all)
		s.Busy = min(1, max(busy, s.Own+s.Broker))
		s.Others = max(0, busy-(s.Own+s.Broker)*limit/n)
	}
	return s
}

// ticks is the time that processors have spent since the machine was booted: at work, and in all.
type ticks struct{ busy, all uint64 }

// Ticks returns how much time the processors of this machine have spent since it was booted, at work and in
// all, in a unit of the kernel.
func Ticks() (busy, all uint64) {
	t := readTicks()
	return t.busy, t.all
}

func readTicks() ticks {
	b, _ := os.ReadFile("/proc/stat")
	return parseTicks(string(b), usable())
}

// parseTicks adds up the processors that are usable, from /proc/stat.
func parseTicks(text string, usable func(cpu int) bool) (t ticks) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		cpu, err := strconv.Atoi(fields[0][len("cpu"):])
		if err != nil || !usable(cpu) {
			continue // the line of all processors together has no number
		}
		for i, f := range fields[1:min(len(fields), 9)] { // guest time is in user time already
			n, _ := strconv.ParseUint(f, 10, 64)
			t.all += n
			if i != 3 && i != 4 { // idle, and waiting for a disk
				t.busy += n
			}
		}
	}
	return t
}

// AddChildren adds the CPU time of the child processes that the processes of a run have started, by /proc, in
// units of 10 ms. A child that has ended counts once its parent has waited for it.
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
