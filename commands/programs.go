package commands

import (
	"os/exec"
	"path/filepath"
	"strings"

	"turnstile/bench/runs"
	"turnstile/internal/terminal"
	"turnstile/results"
)

// With these arguments this program runs as another process of a run: a broker, the proxies, the resource
// process, the agent of a host, or a service.
var (
	brokerArgs   = []string{"broker", "--piped"}
	proxyArgs    = []string{"proxy"}
	resourceArgs = []string{"resource"}
	agentArgs    = []string{"hosts", "join", "--piped"}
	serviceArgs  = []string{"service"}
)

// ownSibling returns the path of a program in the folder of this program.
func ownSibling(name string) string { return filepath.Join(filepath.Dir(terminal.OwnPath()), name) }

// nodeProgram returns the program of a node, with its arguments.
func (p *program) nodeProgram() []string {
	if p.node != nil {
		return p.node
	}
	return []string{ownSibling("node")}
}

// serviceProgram returns the program that has a service, with its arguments. A service whose library takes
// too long to build has the program services-NAME.
func serviceProgram(name string) ([]string, error) {
	if ownService(name) != nil {
		return append([]string{terminal.OwnPath()}, serviceArgs...), nil
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return nil, noService(name) // a path would name any program
	}
	programs := []string{"services-" + name, "services"}
	if name == apart {
		programs = programs[:1]
	}
	for _, name := range programs {
		for _, path := range []string{ownSibling(name), name} {
			if found, err := exec.LookPath(path); err == nil {
				return []string{found}, nil
			}
		}
	}
	return nil, noService(name)
}

// equip completes a setup with the versions and programs for runs of processes.
func (p *program) equip(s *runs.Setup) {
	s.Versions = versions()
	s.Broker = append([]string{terminal.OwnPath()}, brokerArgs...)
	s.Proxy = append([]string{terminal.OwnPath()}, proxyArgs...)
	s.Agent = append([]string{terminal.OwnPath()}, agentArgs...)
	s.Services = serviceProgram
	s.NodeGiven = s.Node != ""
	s.Resource = append([]string{terminal.OwnPath()}, resourceArgs...)
	if !s.NodeGiven {
		node := p.nodeProgram()
		s.Node, s.NodeArgs = node[0], node[1:]
	}
}

// equipFor does what equip does, and checks that the set can be written. If the runs are of processes, it
// also checks the program of a node.
func (p *program) equipFor(s *runs.Setup, real bool) error {
	p.equip(s)
	if real {
		if err := s.CheckNode(); err != nil {
			return err
		}
	}
	return results.MakeSet(s.Results, s.Set)
}
