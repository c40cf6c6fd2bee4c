package site

import (
	"context"
	"errors"

	"turnstile/chaos"
	"turnstile/hosts/cluster"
	"turnstile/internal/proc"
	"turnstile/nodes"
)

// Hosts start the processes of a run: this machine, or several hosts with agents.
type Hosts interface {
	// all returns the hosts, by their numbers.
	all() []cluster.Host
	// Agents returns the processes that act as hosts on this machine.
	Agents() []cluster.Process
	// Stops counts how many times processes of the run were stopped or continued.
	Stops() uint64
	// use returns how busy the kernels of other hosts were, in ticks, and how many CPUs they have. It also
	// updates the CPU times of the processes there.
	use() (busy, all uint64, cpus int)

	// Begin makes the hosts begin a trial, given its folder on this machine and its zero, the start of its time
	// by this machine's clock. It returns the record of the hosts; nil: this machine is the only host.
	Begin(ctx context.Context, dir string, origin uint64, zero int64) (*FleetRecord, error)
	// Collect copies what the hosts have recorded into the folder of a trial, as far as the hosts are reachable,
	// and writes the measurements of their clocks.
	Collect(ctx context.Context, dir string, origin uint64) error
	// DirOf returns the folder of a node's log on its host, given the folder of the trial on this machine.
	DirOf(dir string, id nodes.ID) string
	// SharedDir returns the folder that a node shares with all others, or with the other nodes of its host.
	SharedDir(dir string, id nodes.ID) string
	// ZeroOf returns the zero of a trial by the clock of a node's host, given the zero by this machine's clock.
	ZeroOf(zero int64, id nodes.ID) int64
	// Refresh reads the counters of the nodes on all hosts, and reports whether all are known.
	Refresh() bool

	// Apart reports whether the hosts share no memory. Then Follow copies the state of the faults to them, and
	// merges what their nodes have seen into that state.
	Apart() bool
	Follow(state *chaos.SharedState, clients int) error

	// CutsNetworks reports whether the kernels of the hosts can drop packets. CutNetwork makes some hosts drop
	// the packets to and from ports, and HealNetwork ends the cut with that number.
	CutsNetworks() bool
	CutNetwork(number int, hosts []int, ports []uint16) error
	HealNetwork(number int) error

	close()
}

// A machine is this machine as the only host.
type machine struct{ *cluster.Launcher }

// ErrNoCutter is the error for a cut of networks that no kernel can carry out.
var ErrNoCutter = errors.New("no kernel of this run can drop packets: take hosts with networks of their own")

func (m machine) all() []cluster.Host     { return []cluster.Host{m.Launcher} }
func (machine) Agents() []cluster.Process { return nil }
func (machine) Stops() uint64             { return proc.NoticeStops() }
func (machine) use() (_, _ uint64, _ int) { return 0, 0, 0 }
func (machine) Refresh() bool             { return true }
func (machine) Apart() bool               { return false }
func (machine) CutsNetworks() bool        { return false }
func (machine) HealNetwork(int) error     { return ErrNoCutter }
func (machine) close()                    {}

func (machine) Begin(context.Context, string, uint64, int64) (*FleetRecord, error) { return nil, nil }
func (machine) Collect(context.Context, string, uint64) error                      { return nil }
func (machine) DirOf(dir string, _ nodes.ID) string                                { return dir }
func (machine) SharedDir(dir string, _ nodes.ID) string                            { return dir }
func (machine) ZeroOf(zero int64, _ nodes.ID) int64                                { return zero }
func (machine) Follow(*chaos.SharedState, int) error                               { return nil }
func (machine) CutNetwork(int, []int, []uint16) error                              { return ErrNoCutter }
