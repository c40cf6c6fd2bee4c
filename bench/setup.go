package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench/agent"
	"turnstile/bench/cluster"
	"turnstile/internal/unavailable"
)

// A Setup says where a run finds its programs and puts its results.
type Setup struct {
	Results string    // the folder of all result sets
	Set     string    // the set that the run belongs to
	Name    string    // of its folder; empty: it is named by the time, the algorithm and the number of nodes
	Sweep   *SweepRun // of which it is a run; nil: it is made alone
	Node    string    // the program of a node process
	// Broker and Proxy are programs, and their arguments, that serve as a broker and as the proxies (see
	// cluster.ServeBroker and ServeProxies).
	Broker, Proxy []string
	Agent         []string // the same of an agent on this machine (see agent.ServePiped)
	NodeGiven     bool     // the user has named the node program
	// Control is the URL of the control plane that connects to the hosts, with what it takes to connect;
	// empty: a run with hosts starts its own on this machine.
	// ControlKey is the key file for it, or empty. With a key, the brokers of the run speak TLS, too, unless
	// PlainData says that they do not.
	Control, ControlKey string
	PlainData           bool
	control             *nats.Conn          // to that, once the run is known to be possible
	found               []agent.Description // the hosts that there are
	site                *site               // those, once they serve the run; nil: it starts its own
	// Resource is the same of a resource process (see cluster.ServeResource).
	Resource []string
	// Services returns the program that has a service, with its arguments before client and up. The error says
	// that there is none, and what to do.
	Services func(name string) ([]string, error)
	// ServerProgram is the program of the servers of a service; empty: the one in PATH.
	ServerProgram string

	Versions map[string]string // of what the run was made with
	Progress func(Progress)    // called while the run goes on; may be nil
	OnTrial  func(*Trial)      // called when a trial is over; may be nil
}

// CheckNode says what is wrong with the program of a node, if anything is.
func (s *Setup) CheckNode() error {
	const rightly = "build it with make build, or say where it is with --node-program"
	switch info, err := os.Stat(s.Node); {
	case err != nil:
		return fmt.Errorf("the node program is not at %s: %s", s.Node, rightly)
	case info.IsDir():
		return fmt.Errorf("%s is a folder, and no node program: %s", s.Node, rightly)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is no node program, since it is not executable: %s", s.Node, rightly)
	}
	return nil
}

// ready checks whether the run can be made on this machine.
func (s *Setup) ready(j *Job) error {
	if j.Simulated {
		_, _, err := j.simulation(0, j.Seed)
		return err
	}
	if err := s.CheckNode(); err != nil {
		return err
	}
	for i := range j.Faults {
		if err := j.checkPause(&j.Faults[i]); err != nil {
			return err
		}
	}
	if j.Hosts == 0 || s.Control == "" {
		if err := cluster.CheckLimits(j.total(), j.carriers()); err != nil {
			return err
		}
	}
	if j.Hosts > 0 {
		if err := s.findHosts(j); err != nil {
			return err
		}
	}
	if err := checkEndpoint(context.Background(), j.Config.Options[EndpointOption]); err != nil {
		return err
	}
	if j.NATS == "" {
		return nil
	}
	conn, err := nats.Connect(j.NATS, nats.Timeout(5*time.Second))
	if err != nil {
		return unavailable.Mark(fmt.Errorf("no NATS server answers at %s: %w; leave out --nats to use one of the "+
			"run's own", WithoutCredential(j.NATS), err))
	}
	conn.Close()
	return nil
}
