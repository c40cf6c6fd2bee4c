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

// A Usage is the CPU time used until some moment, by the processes of a run and by the whole machine.
type Usage struct {
	at     time.Time
	all    ticks         // ticks of the CPUs that this process may run on
	own    time.Duration // CPU time of this process and the nodes
	broker time.Duration // CPU time of the processes that carry the messages
	known  bool          // own and broker are known
	ended  int           // how many processes have ended whose children AddChildren could not read
	cpus   int           // number of CPUs of other machines, whose ticks Add has added to all
}

// Add adds the ticks of another machine.
func (u *Usage) Add(busy, all uint64, cpus int) {
	u.all.busy += busy
	u.all.all += all
	u.cpus += cpus
}

// ReadUsage reads the CPU time used so far. The brokers are all processes of the run that carry messages or
// have carried them; an external server is not among them.
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

// Shares are shares of CPU time over some time, relative to what the run could use: the CPUs that it may run
// on, or the quota of its control groups if that is less.
type Shares struct {
	Own    float64 // share of the nodes and the orchestrator
	Broker float64 // share of the run's own brokers and proxies
	Others float64 // share of other processes, relative to the CPUs that the run may run on, even under a quota
	Busy   float64 // used share of the CPUs that the run may use, or of its quota: the greater of the two
	// BrokerCPU is the CPU time of the brokers and proxies, relative to one CPU.
	BrokerCPU float64
	// AllKnown reports whether Busy was measured; OwnKnown, whether Own, Broker and BrokerCPU were.
	AllKnown, OwnKnown bool
}

// Between sets the time of a reading half-way between its beginning, which is given, and its end.
func (u *Usage) Between(began time.Time) { u.at = began.Add(u.at.Sub(began) / 2) }

// Since returns the shares since an earlier reading.
func (u Usage) Since(earlier Usage) Shares {
	if u.cpus > 0 {
		return u.since(earlier, runtime.NumCPU()+u.cpus, 0)
	}
	return u.since(earlier, runtime.NumCPU(), cgroup.Read(os.DirFS("/")).CPUs)
}

// mostShare is the greatest plausible share of CPU time: 1, and an allowance for errors of reading.
const mostShare = 1.1

// since is Since for a number of CPUs, and with the quota of the run; 0: no quota.
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
	if s.OwnKnown = u.known && earlier.known && u.ended == earlier.ended; s.OwnKnown {
		s.BrokerCPU = (u.broker - earlier.broker).Seconds() / took.Seconds()
		s.Broker = s.BrokerCPU / limit
		s.Own = (u.own - earlier.own).Seconds() / took.Seconds() / limit
		if s.Own+s.Broker > mostShare { // too little time has passed, compared with how long the readings took
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

// ticks is the time that CPUs have spent since the machine was booted: busy, and in all.
type ticks struct{ busy, all uint64 }

// Ticks returns how much time the CPUs of this machine have spent since it was booted, busy and in all, in a
// unit of the kernel.
func Ticks() (busy, all uint64) {
	t := readTicks()
	return t.busy, t.all
}

func readTicks() ticks {
	b, _ := os.ReadFile("/proc/stat")
	return parseTicks(string(b), usable())
}

// parseTicks adds up the usable CPUs in the text of /proc/stat.
func parseTicks(text string, usable func(cpu int) bool) (t ticks) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		cpu, err := strconv.Atoi(fields[0][len("cpu"):])
		if err != nil || !usable(cpu) {
			continue // the line for all CPUs together has no number
		}
		for i, f := range fields[1:min(len(fields), 9)] { // without guest time, which user time includes
			n, _ := strconv.ParseUint(f, 10, 64)
			t.all += n
			if i != 3 && i != 4 { // 3 is idle time, and 4 is waiting for a disk
				t.busy += n
			}
		}
	}
	return t
}

// AddChildren adds the CPU time of child processes that the processes of a run have started, from /proc, in
// units of 10 ms. A child that has ended counts once its parent has waited for it. The time of children is
// unknown if their parent runs on another host, or has ended since an earlier reading.
func (u *Usage) AddChildren(brokers, nodes []Process) {
	all := readProcesses()
	add := func(of []Process, to *time.Duration) {
		for _, p := range of {
			has, is := p.(interface{ Pid() int })
			select {
			case <-p.Ended():
				u.ended++
				continue
			default:
			}
			if !is || has.Pid() == 0 {
				u.known = false
				continue
			}
			*to += all.beneath(has.Pid())
		}
	}
	add(brokers, &u.broker)
	add(nodes, &u.own)
}

// processes has the children and the CPU time of each process.
type processes struct {
	children map[int][]int
	used     map[int]time.Duration // CPU time of the process itself
	waited   map[int]time.Duration // CPU time of its ended children
}

// clockTick is the unit of times in /proc.
const clockTick = 10 * time.Millisecond

// readProcesses reads /proc. The result is empty on systems without it.
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

// add parses a line of /proc/PID/stat. The second field is the name of the program, in parentheses, and may
// have any characters.
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

// beneath returns the CPU time of the descendants of a process.
func (p *processes) beneath(pid int) time.Duration {
	sum := p.waited[pid]
	for _, child := range p.children[pid] {
		sum += p.used[child] + p.beneath(child)
	}
	return sum
}
